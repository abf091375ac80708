import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readHashComments, readPythonProse } from './python.ts';
import { repositoryRoot } from './tracked-files.ts';
import { readTypeScriptProse } from './typescript.ts';

describe('readTypeScriptProse', () => {
  it('joins consecutive line comments and strips the delimiters of a block comment', () => {
    const text =
      '#!/usr/bin/env node\n// one\n// comment\n\n/**\n * A block\n * of two lines.\n */\n// biome-ignore lint: x\n';
    expect(readTypeScriptProse('a.ts', text).comments).toEqual(['one comment', 'A block of two lines.']);
  });

  it('finds the messages of errors, error factories, `message` properties and log calls, and skips messages without words', () => {
    const text = `throw new StartError(\`No \${what} here.\`, { cause });
      throw createApiError('not-found', isGone ? 'It was removed.' : 'Not found ' + 'anywhere.');
      logger.info({ id: 'no message' }, 'instance started');
      throw new StartError(\`\${file}: \${problem}\`);
      const table = { a: { message: 'A row of the table.' } };`;
    expect(readTypeScriptProse('a.ts', text).messages).toEqual([
      `No \${what} here.`,
      'It was removed.',
      'Not found anywhere.',
      'no message',
      'instance started',
      'A row of the table.',
    ]);
  });

  it('finds test names with the titles of the enclosing blocks, and skips titles without words', () => {
    const text = `describe('start', () => {
      it('returns', () => {});
      it.each([1])('rejects %s', () => {});
      it.each([1])('%s', () => {});
      describe.skipIf(x)('as root', () => void browserTest(\`runs\`, () => {}));
    });
    test('alone', () => {});`;
    const names = ['start > returns', 'start > rejects %s', 'start > as root > runs', 'alone'];
    expect(readTypeScriptProse('a.test.tsx', text).testNames).toEqual(names);
  });

  it('finds exported names', () => {
    const text =
      'export const a = 1;\nexport type B = 1;\nexport async function c() {}\nconst d = 1;\nexport { d as e };\n';
    expect(readTypeScriptProse('a.ts', text).identifiers).toEqual(['a', 'B', 'c', 'e']);
  });
});

it('readPythonProse finds comments, docstrings, messages, tests and public names', () => {
  const text = `"""A module."""
LIMIT = 3  # per file
text = "# no comment"

# Two
# lines.
class Session:
    """One session."""
    async def test_ends(self) -> None:
        raise ValueError("No such file.")

def _private(): logger.info("session ended")
`;
  expect(readPythonProse(text)).toEqual({
    comments: ['per file', 'Two lines.', 'A module.', 'One session.'],
    messages: ['No such file.', 'session ended'],
    testNames: ['test_ends'],
    identifiers: ['LIMIT', 'Session'],
  });
});

it('readHashComments skips the shebang, tool directives and quoted # characters of a shell script', () => {
  expect(readHashComments("#!/bin/sh\n# shellcheck disable=SC1\n# A run.\necho '#'\n")).toEqual(['A run.']);
});

it('draw-prose.mjs samples the same comments, messages and names for the same seed, and others for another seed', () => {
  const draw = (seed: string) => {
    const words = ['lint/draw-prose.mjs', '--seed', seed, '--under', 'packages/contract'];
    return spawnSync(process.execPath, words, { cwd: repositoryRoot, encoding: 'utf8' }).stdout;
  };
  const first = draw('7');
  expect(first).toMatch(/^seed 7, \d+ files\n\ncomments: 40 of /);
  expect(draw('7')).toBe(first);
  expect(draw('8').split('\n').slice(1)).not.toEqual(first.split('\n').slice(1));
});
