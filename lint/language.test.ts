import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readProse } from './prose/read-prose.ts';
import { listTrackedFiles, repositoryRoot } from './prose/tracked-files.ts';

/** Archaic words, and phrases without a clear subject. */
const unclear = [
  /\banew\b/,
  /\bwhence\b/,
  /\bbears?\b/,
  /\b(?:tells|told|tell apart)\b/,
  /\bfor ever\b/,
  /\b(?:whoever|nobody)\b/,
  /\blets? go\b/,
  /\b(?:goes|went) on\b/,
  /\b(?:that|which|who) (?:is|are|was|were) gone\b/,
  /\bgone by\b/,
  /\bnot there any more\b/,
  /\bis said\b/,
  /\bbeyond what\b/,
  /\bwhat it has\b/,
  /\b(?:the one|those) that\b/,
  /\bno such\b(?! file or directory)/,
  /\bas it was\b/,
  /\ba look\b/,
  /\blooked at\b/,
  /\bat the latest\b/,
  /\bmend(?:s|ed|ing)?\b/,
  /\bkeepers?\b/,
  /\bkick(?:s|ed)?\b/,
  /\bupkeep\b/,
  /\bhand(?:s|ed|ing)? over\b/,
  /\bsigns? of life\b/,
  /\b(?:sweep(?:s|ing)?|swept)\b/,
  /\battend(?:s|ed|ance)?\b/,
  /\baskers?\b/,
  /\buntruths?\b/,
  /\bdisorder\b/,
  /\bleftovers?\b/,
  /\bpreloaders?\b/,
  /\bpretend(?:s|ed)?\b/,
];
const anyUnclear = new RegExp(unclear.map(({ source }) => source).join('|'), 'gi');

function find(path: string, texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    // Ignore text in backticks: it is code, for example the account name `nobody`.
    const prose = text.replace(/`[^`]*`/g, '``');
    return (prose.match(anyUnclear) ?? []).map((word) => `${path}: "${word}" in: ${text}`);
  });
}

it('comments, test names, messages and documents use plain terms', () => {
  const sources = listTrackedFiles(['ts', 'tsx', 'js', 'mjs', 'py', 'sh']).flatMap((path) => {
    const { comments, messages, testNames } = readProse(path);
    return find(path, [...comments, ...messages, ...testNames]);
  });
  const documents = listTrackedFiles(['md']).flatMap((path) => {
    const text = readFileSync(join(repositoryRoot, path), 'utf8').replace(/^```.*?^```/gms, '');
    return find(path, text.split('\n'));
  });
  expect([...sources, ...documents]).toEqual([]);
}, 240_000);
