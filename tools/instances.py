#!/usr/bin/env python3
"""instances.py - the checker against the conformance set of instructions.

  instances.py --facts DIR --batch BUILD/isa_batch [--sample N] [--show N] [--grep TEXT]

DIR holds instances.tsv and patterns.tsv (the README there gives the frame). Each instruction is judged at its
least version and target, one version below, one target below, and at one more random pair; what is never
accepted, at the newest pairs. Prints agreement and the disagreements by kind.
"""
import argparse
import collections
import csv
import random
import re
import subprocess

FRAME = ('.version %s\n.target %s\n.global .u32 gvar;\n.shared .u32 svar;\n.func dfunc() { ret; }\n'
         '.entry kernel2() { ret; }\n.entry k(.param .align 16 .b8 kp[64]) {\n%s\n%s\n ret;\n}\n')


def rows(path):
    with open(path, newline='') as file:
        return list(csv.reader(file, delimiter='\t', quoting=csv.QUOTE_NONE))


def number(version):
    major, minor = version.split('.')
    return int(major) * 10 + int(minor)


def text(version):
    return '%d.%d' % divmod(version, 10)


class Patterns:
    """pattern id -> {target: (first, last)} of accepted versions"""

    def __init__(self, facts):
        table = rows(facts + '/patterns.tsv')
        self.targets = table[0][4:]
        self.cells = {}
        for row in table[1:]:
            cells = {}
            for target, cell in zip(self.targets, row[4:]):
                if cell == '-':
                    continue
                first, _, last = cell.partition('..')
                cells[target] = (number(first.rstrip('!')), number(last) if last else 999)
            self.cells[row[0]] = cells
        listed = {number(row[0]) for row in rows(facts + '/versions.tsv')[1:]
                  if re.fullmatch(r'\d+\.\d+', row[0])}
        self.versions = sorted(v for v in listed if v <= 90)

    def accepts(self, pattern, version, target):
        first, last = self.cells.get(pattern, {}).get(target, (999, 0))
        return first <= version <= last

    def exists(self, version, target):
        """whether a file may say both at all: what is accepted everywhere is pattern 0"""
        return self.accepts('0', version, target)

    def least(self, pattern):
        cells = self.cells[pattern]
        target = min(cells, key=lambda t: (cells[t][0], self.targets.index(t)))
        return cells[target][0], target


def probes(patterns, pattern, rng):
    """(kind, version, target, accepted)"""
    if pattern not in patterns.cells or not patterns.cells[pattern]:
        return [('never', 90, target, False) for target in ('sm_100a', 'sm_121a')]
    version, target = patterns.least(pattern)
    out = [('least', version, target, True)]
    below = [v for v in patterns.versions if v < version]
    if below and version > 14:
        out.append(('version below', below[-1], target,
                    patterns.accepts(pattern, below[-1], target)))
    at = patterns.targets.index(target)
    if at:
        lower = patterns.targets[at - 1]
        out.append(('target below', version, lower, patterns.accepts(pattern, version, lower)))
    v, t = rng.choice(patterns.versions), rng.choice(patterns.targets)
    if v >= 14:
        out.append(('random', v, t, patterns.accepts(pattern, v, t)))
    return [probe for probe in out if patterns.exists(probe[1], probe[2])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--facts', required=True)
    parser.add_argument('--batch', required=True)
    parser.add_argument('--sample', type=int, default=0)
    parser.add_argument('--show', type=int, default=30)
    parser.add_argument('--grep', default='')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    patterns = Patterns(options.facts)
    table = [row for row in rows(options.facts + '/instances.tsv')[1:] if options.grep in row[4]]
    if options.sample:
        table = rng.sample(table, min(options.sample, len(table)))
    cases = [(row, probe) for row in table for probe in probes(patterns, row[1], rng)]
    stream = '\0'.join(FRAME % (text(p[1]), p[2], row[5], row[4]) for row, p in cases) + '\0'
    answer = subprocess.run([options.batch, '-v'], input=stream.encode(), stdout=subprocess.PIPE,
                            check=True).stdout.decode().splitlines()
    assert len(answer) == len(cases), (len(answer), len(cases))
    right, total = collections.Counter(), collections.Counter()
    groups = collections.defaultdict(list)
    for (row, (kind, version, target, accepted)), line in zip(cases, answer):
        total[kind] += 1
        if (line.split('\t')[0] == '0') == accepted:
            right[kind] += 1
            continue
        said = line.split('\t')[1:] or ['accepted']
        codes = ' '.join(sorted({part.split(' ')[1] for part in said if ' ' in part})) or 'accepted'
        groups[(kind, row[0], codes)].append((text(version), target, row[4], said[0], row[6]))
    for kind in total:
        print('%-14s %6d of %6d equal, %.3f %%' % (kind, right[kind], total[kind],
                                                   100 * right[kind] / total[kind]))
    print('in all %.3f %%' % (100 * sum(right.values()) / max(1, sum(total.values()))))
    for key, members in sorted(groups.items(), key=lambda item: -len(item[1]))[:options.show]:
        print(len(members), *key)
        for member in members[:2]:
            print('    ', ' | '.join(member)[:260])


if __name__ == '__main__':
    main()
