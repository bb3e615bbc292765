#!/usr/bin/env python3
"""forms.py - random forms of every instruction, judged by the checker and by ptxas.

  forms.py --batch BUILD/isa_batch [--ptxas PTXAS] [--count N] [--seed S] [--only OPCODE] [--show N]

Reads the rows of isa/instructions.def through the C preprocessor, makes forms that a row allows, or nearly
(a word more, another word, another order), with operands that fit, and compares verdicts at several versions
and targets. What the tables lack shows up here. Needs ptxas; matrix fragments are left to instances.py.
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

DECLS = ('.reg .b8 b8; .reg .b16 h; .reg .u16 u16; .reg .s16 s16; .reg .b32 r; .reg .u32 u; .reg .s32 s; '
         '.reg .f32 f; .reg .b64 a; .reg .u64 ud; .reg .s64 sd; .reg .f64 d; .reg .pred p, p1; '
         '.local .u32 lvar;')
REGS = {'pred': 'p', 'b8': 'h', 'u8': 'u16', 's8': 's16', 'b16': 'h', 'u16': 'u16', 's16': 's16', 'f16': 'h',
        'bf16': 'h', 'b32': 'r', 'u32': 'u', 's32': 's', 'f32': 'f', 'f16x2': 'r', 'bf16x2': 'r', 'tf32': 'r',
        'u16x2': 'r', 's16x2': 'r', 'b64': 'a', 'u64': 'ud', 's64': 'sd', 'f64': 'd', 'f32x2': 'a', 'b128': 'q',
        'e2m1x2': 'b8', 'e2m1x4': 'h', 'e4m3': 'b8', 'e5m2': 'b8'}
WIDE = {'u16': 'u32', 's16': 's32', 'u32': 'u64', 's32': 's64'}
PAIRS = [('9.0', 'sm_100a'), ('9.0', 'sm_103a'), ('9.0', 'sm_120a'), ('9.0', 'sm_90a'), ('9.0', 'sm_80'),
         ('8.8', 'sm_100f'), ('8.0', 'sm_90'), ('7.4', 'sm_80'), ('7.0', 'sm_75'), ('5.1', 'sm_70'),
         ('4.3', 'sm_50'), ('3.1', 'sm_35'), ('2.3', 'sm_20'), ('1.4', 'sm_13')]


def table(root):
    source = '#define INSTRUCTION(o, s, m, p, f, c) @@ o ! s ! m ! p @@\n#include "isa/instructions.def"\n'
    text = subprocess.run(['cc', '-E', '-P', '-I', root, '-x', 'c', '-'], input=source.encode(),
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = []
    for match in re.finditer(r'@@ (\w+) !((?: *"[^"]*")*) !((?: *"[^"]*")*) !((?: *"[^"]*")*) @@', text):
        parts = [''.join(re.findall(r'"([^"]*)"', match.group(i))) for i in (2, 3, 4)]
        rows.append((match.group(1), *parts))
    return rows


def slots_of(modifiers):
    """[(name, optional, [words])]"""
    slots = []
    for part in modifiers.split():
        optional = part.startswith('?')
        part = part.lstrip('?')
        if part.startswith('.'):
            word = part[1:].split('/')[0]
            slots.append((word, optional, [word]))
        else:
            name, _, choices = part.partition('=')
            words = [choice[1:].split('/')[0] for choice in re.split(r'\|(?=\.)', choices.strip('{}'))]
            slots.append((name, optional, words))
    return slots


class Unfit(Exception):
    pass


def register(kind):
    if kind in REGS:
        return REGS[kind]
    if re.fullmatch(r'u?e\dm\dx2', kind):
        return 'h'
    if re.fullmatch(r'e\dm\dx4', kind):
        return 'r'
    raise Unfit


def constant(text, rng):
    if text.startswith('^'):
        return rng.choice('1 2 16 64'.split())
    if text.startswith('%'):
        numbers = [int(n) for n in re.findall(r'-?\d+', text)]
        return str(numbers[0] * rng.randint(4, 8))
    if '..' in text:
        least, most = text.split('..')
        return str(rng.randint(int(least), min(int(most), int(least) + 100)))
    return rng.choice(text.split('|'))


GEOMETRY = {'1d': 1, '2d': 2, '3d': 4, 'a1d': 2, 'a2d': 4, 'cube': 4, 'acube': 4, '2dms': 4, 'a2dms': 4}


def operand(code, argument, limit, filled, words, rng):
    kind = argument
    if code in ('R', 'W', 'N', 'X'):
        wide = kind.startswith('wide ')
        kind = filled.get(kind.replace('wide ', ''), kind.replace('wide ', ''))
        if limit and rng.random() < 0.4:
            return constant(limit, rng)
        return register(WIDE[kind] if wide else kind)
    if code == 'V':
        count, kind = argument.split(',')
        kind = filled.get(kind, kind)
        if count.isdigit():
            number = int(count)
        elif count in ('X', 'A', 'B', 'C', 'D'):
            raise Unfit
        elif count == 'OFFSETS':
            dim = int(filled['dim'][0])
            number = 2 if 'im2col::w' in words or 'im2col::w::128' in words else dim - 2
        elif count == 'COORDINATES':
            geometry = next(w for w in words if w in GEOMETRY)
            number = {'a1d': 1, 'a2d': 2, 'acube': 2}.get(geometry, GEOMETRY[geometry])
        else:
            number = {'v2': 2, 'v4': 4, 'v8': 8}.get(filled.get(count), 1)
            if number == 1:
                return register(kind)
        return '{%s}' % ', '.join([register(kind)] * number)
    if code == 'T':
        dim = int(next(w for w in words if re.fullmatch(r'\dd', w))[0])
        if 'tile::gather4' in words or 'tile::scatter4' in words:
            dim = 5
        return '[a, {%s}]' % ', '.join(['s'] * dim)
    if code == 'IMAGE':
        geometry = next(w for w in words if w in GEOMETRY)
        integers = 's' if filled.get('ctype') == 's32' or 'tex' not in words and 'tld4' not in words else 'f'
        first = 'u' if geometry in ('a1d', 'a2d', 'acube', '2dms', 'a2dms') else integers
        return '[a, {%s}]' % ', '.join([first] + [integers] * (GEOMETRY[geometry] - 1))
    if code == 'I':
        return constant(limit, rng) if limit else '1'
    if code == 'D':
        space = next((w for w in words if w in ('global', 'shared', 'shared::cta', 'local')), None)
        return {'global': 'gvar', 'local': 'lvar', None: 'gvar'}.get(space, 'svar')
    simple = {'P': 'p', 'M': '[a]', 'HANDLE': '[a]', 'F': '0.5', 'S': '%tid.x', 'LABEL': 'L', 'SINK': '_',
              'LOD': 'f', 'TMEM': '[r]', 'TADDR': '[r]', 'SCALEA': '{h, h}', 'SCALEB': '{h, h}'}
    if code not in simple:
        raise Unfit
    return simple[code]


PATTERN = re.compile(r'(\?(?P<slot>\w*):)?=?(?P<not>!?)(?P<code>[A-Z]+)(\((?P<argument>[^)]*)\))?'
                     r'(\{(?P<limit>[^}]*)\})?(?P<suffix>[_$]*)(?P<pair>\|\??P)?$')


def operands(text, filled, words, rng):
    out = []
    for part in re.split(r', (?![^({]*[)}])', text) if text else []:
        match = PATTERN.match(part)
        if match is None:
            raise Unfit
        slot = match.group('slot')
        if slot and slot not in filled:
            continue
        if slot == '' and rng.random() < 0.5:
            break
        one = operand(match.group('code'), match.group('argument') or '', match.group('limit'), filled, words, rng)
        pair = match.group('pair')
        if pair and (pair == '|P' or rng.random() < 0.3):
            one += '|p1'
        out.append(one)
    return ', '.join(out)


def make(row, vocabulary, rng):
    opcode, stem, modifiers, patterns = row
    filled, words = {}, []
    for name, optional, choices in slots_of(modifiers):
        if optional and rng.random() < 0.6:
            continue
        word = rng.choice(choices)
        if '*' in word or '#' in word:
            word = re.sub(r'[*#]', rng.choice(['8', '24', '64', '48', '200']), word)
        filled[name] = word
        words.append(word)
    stem_words = stem.split('.') if stem else []
    text = operands(patterns, filled, [opcode] + stem_words + words, rng)
    change = rng.random()
    if change < 0.15 and vocabulary:
        words.insert(rng.randint(0, len(words)), rng.choice(vocabulary))
    elif change < 0.3 and words and vocabulary:
        words[rng.randrange(len(words))] = rng.choice(vocabulary)
    elif change < 0.4 and len(words) > 1:
        del words[rng.randrange(len(words))]
    elif change < 0.5:
        rng.shuffle(words)
    label = 'L: ' if 'L' == text else ''
    return label + '.'.join([opcode] + stem_words + words) + (' ' + text if text else '') + ';'


def frame(version, target, instruction):
    wide = ' .reg .b128 q;' if float(version) >= 8.3 and int(re.sub(r'\D', '', target)) >= 70 else ''
    return ('.version %s\n.target %s\n.global .u32 gvar;\n.shared .u32 svar;\n' % (version, target),
            '.entry k@() { %s%s\n%s\n exit; }\n' % (DECLS, wide, instruction))


def ptxas_verdicts(ptxas, version, target, instructions):
    """error text or '' for each"""
    if not instructions:
        return []
    head = frame(version, target, '')[0]
    text = head + ''.join(frame(version, target, i)[1].replace('k@', 'k%d' % n) for n, i in enumerate(instructions))
    first = head.count('\n') + 1
    with tempfile.NamedTemporaryFile('w', suffix='.ptx', delete=False) as file:
        file.write(text)
    arch = target.replace('sm_', 'compute_')
    if int(re.sub(r'\D', '', target)) < 75:
        arch = 'compute_75'
    done = subprocess.run([ptxas, '-arch=' + arch, file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    os.unlink(file.name)
    verdicts, fatal = [''] * len(instructions), None
    for match in re.finditer(r'line (\d+); (error|fatal)\s*:\s*(.*)', done.stdout.decode()):
        index = (int(match.group(1)) - first) // 3
        if 0 <= index < len(instructions):
            verdicts[index] = verdicts[index] or match.group(3)
            if match.group(2) == 'fatal':
                fatal = index
    if fatal is None and done.returncode != 0 and not any(verdicts):
        if len(instructions) == 1:
            return ['no verdict']
        half = len(instructions) // 2
        return (ptxas_verdicts(ptxas, version, target, instructions[:half]) +
                ptxas_verdicts(ptxas, version, target, instructions[half:]))
    if fatal is not None:
        return (ptxas_verdicts(ptxas, version, target, instructions[:fatal]) + [verdicts[fatal]] +
                ptxas_verdicts(ptxas, version, target, instructions[fatal + 1:]))
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--batch', required=True)
    parser.add_argument('--ptxas', default=shutil.which('ptxas') or '/usr/local/cuda/bin/ptxas')
    parser.add_argument('--count', type=int, default=3000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', default='')
    parser.add_argument('--show', type=int, default=40)
    parser.add_argument('--newest', action='store_true', help='only the newest version')
    options = parser.parse_args()
    if not os.path.exists(options.ptxas):
        print('skipped: ptxas not found')
        sys.exit(77)
    rng = random.Random(options.seed)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
    rows = [row for row in table(root) if not options.only or row[0] in options.only.split(',')]
    vocabulary = collections.defaultdict(list)
    for opcode, _, modifiers, _ in rows:
        for _, _, words in slots_of(modifiers):
            vocabulary[opcode] += [w for w in words if '*' not in w and '#' not in w]
    pairs = [p for p in PAIRS if p[0] == '9.0'] if options.newest else PAIRS
    cases = collections.defaultdict(list)
    tries = 0
    made = 0
    while made < options.count and tries < options.count * 20:
        tries += 1
        try:
            row = rng.choice(rows)
            instruction = make(row, sorted(set(vocabulary[row[0]])), rng)
        except Unfit:
            continue
        cases[rng.choice(pairs)].append(instruction)
        made += 1
    groups, equal, total = collections.defaultdict(list), 0, 0
    for (version, target), instructions in cases.items():
        head = frame(version, target, '')[0]
        stream = '\0'.join(head + frame(version, target, i)[1].replace('k@', 'k') for i in instructions) + '\0'
        ours = subprocess.run([options.batch, '-v'], input=stream.encode(), stdout=subprocess.PIPE,
                              check=True).stdout.decode().splitlines()
        theirs = ptxas_verdicts(options.ptxas, version, target, instructions)
        for instruction, our, their in zip(instructions, ours, theirs):
            if their == 'no verdict':
                continue
            total += 1
            # 32-bit addressing is refused only when code is made
            said = [part for part in our.split('\t')[1:] if ' PTX0346 ' not in part]
            if bool(said) == bool(their):
                equal += 1
                continue
            opcode = re.split(r'[. ;]', instruction.replace('L: ', ''))[0]
            kind = 'false error' if said else 'missed'
            reason = said[0].split(' ')[1] if said else re.sub(r"'[^']*'", 'X', their)
            groups[(kind, opcode, reason[:60])].append((version, target, instruction, said[0] if said else their))
    print('%d of %d equal, %.3f %%' % (equal, total, 100 * equal / max(1, total)))
    for key, members in sorted(groups.items(), key=lambda item: -len(item[1]))[:options.show]:
        print(len(members), *key)
        for member in members[:2]:
            print('    ', ' | '.join(member)[:250])


if __name__ == '__main__':
    main()
