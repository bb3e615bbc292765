#!/usr/bin/env python3
"""The checker against a sample of the measured conformance set of instructions; skipped without it."""
import os
import re
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
shared = os.environ.get('PTXVET_SHARED') or os.path.join(os.path.dirname(root), 'shared')
facts = os.path.join(shared, 'facts', 'isa')
if not os.path.exists(os.path.join(facts, 'instances.tsv')):
    print('skipped: no conformance set at ' + facts)
    sys.exit(77)
done = subprocess.run([sys.executable, os.path.join(root, 'tools', 'instances.py'), '--facts', facts, '--batch',
                       sys.argv[1], '--sample', '4000', '--seed', '7'], stdout=subprocess.PIPE, check=True)
text = done.stdout.decode()
print(text)
agreement = float(re.search(r'in all ([\d.]+) %', text).group(1))
sys.exit(0 if agreement >= 99.5 else 1)
