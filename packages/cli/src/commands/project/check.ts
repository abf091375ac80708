import { resolve } from 'node:path';
import { defineCommand } from '../../command-line/command.ts';
import { Failure } from '../../failure.ts';
import { createTable } from '../../output/table.ts';
import type { Finding } from '../../scaffold/checking/check-project.ts';
import { version } from '../../version.ts';

export const command = defineCommand({
  summary: 'Check that a generated project is ready to run and to deploy',
  details:
    'Checks that all required variables are set (without showing values), that the packages match the project, ' +
    'and that deploy.toml can be deployed. Lists edited files and guides of an older version. Exit status 1 if ' +
    'there are problems.',
  isLocal: true,
  arguments: { directory: { description: 'Directory of the project (default: this one)', optional: true } },
  examples: ['project check', 'project check my-bot --json'],
  run: async ({ io }, { directory: path }) => {
    const { readProjectRecord } = await import('../../scaffold/checking/read-project-record.ts');
    const { checkProject } = await import('../../scaffold/checking/check-project.ts');
    const directory = resolve(io.directory, path ?? '.');
    const answers = readProjectRecord(directory);
    const findings = await checkProject(directory, answers, version);
    const problems = findings.filter(({ state }) => state === 'problem');
    if (problems.length > 0) {
      const issues = problems.map(({ about, message }) => ({ path: about, message }));
      const [edited, outdated] = [pathsOf(findings, 'edited'), pathsOf(findings, 'outdated')];
      const hint = [
        ...(edited === '' ? [] : [`Edited: ${edited}.`]),
        ...(outdated === '' ? [] : [`Written by an older version: ${outdated}.`]),
      ].join(' ');
      const details = { directory, generator: answers.generator, findings };
      throw new Failure('project-unfit', `The project in ${directory} has problems:`, hint || null, {
        issues,
        details,
      });
    }
    const tones = { good: 'good', edited: 'warn', outdated: 'warn', problem: 'bad' } as const;
    const table = createTable(findings, 'Nothing was checked.', [
      ['About', ({ about }) => about],
      ['State', ({ state }) => ({ text: state, tone: tones[state] })],
      ['Finding', ({ message }) => message],
    ]);
    return { json: { directory, generator: answers.generator, findings }, blocks: [table] };
  },
});

function pathsOf(findings: readonly Finding[], state: Finding['state']): string {
  return findings.flatMap((finding) => (finding.state === state ? finding.about : [])).join(', ');
}
