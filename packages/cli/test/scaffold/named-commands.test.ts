import { expect, test } from 'vitest';
import type { ProjectConfiguration } from '../../src/scaffold/configuration/configuration.ts';
import { resolveConfiguration } from '../../src/scaffold/configuration/resolve.ts';
import { listGuides } from '../../src/scaffold/guides/guides.ts';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';
import { createProjectReport } from '../../src/scaffold/project-report.ts';
import { version } from '../../src/version.ts';
import { findUsageProblem } from '../find-usage-problem.ts';
import { projectMatrix } from './project-matrix.ts';

const clients = ['react', 'vanilla'].flatMap((client_framework): ProjectConfiguration[] => {
  const given = { transports: ['lightrtc'], mode: 'realtime', realtime_service: 'openai_realtime', client_framework };
  const { configuration } = resolveConfiguration(given, 'demo');
  return configuration === null ? [] : [configuration];
});
const configurations = [...projectMatrix.map(([, configuration]) => configuration), ...clients];

/** Lists the `botcli` commands in the text and shell blocks of a document, without comments. */
function namedIn(document: string): readonly string[] {
  const blocks = [...document.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) => linesOf(block));
  const text = document.replace(/^ *```[\s\S]*?^ *```$/gm, '');
  const spans = [...text.matchAll(/`(botcli\s[^`]+)`/g)].map(([, span = '']) => span.replace(/\s+/g, ' '));
  return [...blocks, ...spans];
}

function linesOf(block: string): readonly string[] {
  const lines = block.replace(/\\\n\s*/g, '').split('\n');
  return lines
    .flatMap((line) => line.replace(/\s# .*$/, '').split('&&'))
    .flatMap((part) => {
      const line = part.trim();
      return line.startsWith('botcli ') ? line : [];
    });
}

async function refused(lines: Iterable<string>): Promise<readonly string[]> {
  const all = await Promise.all(
    [...new Set(lines)].map(async (line) => ({ line, refusal: await findUsageProblem(line) })),
  );
  return all.flatMap(({ line, refusal }) => (refusal === null ? [] : `${line}: ${refusal}`));
}

test('the program accepts every command in the guides', async () => {
  const lines = listGuides(version).flatMap(({ text }) => namedIn(text));
  expect(lines).toEqual(
    expect.arrayContaining([
      'botcli init --dry-run -t smallwebrtc -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts',
      'botcli cloud agent logs NAME --follow',
      'botcli project update',
    ]),
  );
  expect(await refused(lines)).toEqual([]);
});

test('the program accepts every command in generated READMEs', async () => {
  const readmes = configurations.map(
    (configuration) => generateProjectFiles(configuration).find(({ path }) => path === 'README.md')?.text ?? '',
  );
  const lines = readmes.flatMap(namedIn);
  expect(lines).toEqual(
    expect.arrayContaining([
      'botcli cloud secrets set demo-secrets --file .env',
      'botcli cloud deploy',
      `botcli cloud agent start demo --data '{"dialout_settings": ...}'`,
    ]),
  );
  expect(await refused(lines)).toEqual([]);
});

test('the program accepts every command in the next steps that init prints', async () => {
  const lines = configurations.flatMap((configuration) => {
    const { blocks } = createProjectReport(configuration, '/demo', { written: [], guides: [] }, 'npm');
    return blocks.flatMap((block) => (block.kind === 'text' ? linesOf(block.lines.join('\n')) : []));
  });
  expect(lines).toContain('botcli cloud deploy');
  expect(await refused(lines)).toEqual([]);
});

test.each([
  ['botcli cloud deploy --forec', 'Unknown option --forec.'],
  ['botcli cloud agent log NAME', 'Unknown command "botcli cloud agent log".'],
  ['botcli cloud secrets set --file .env', 'NAME is missing: '],
  ['botcli project add soniox', 'cannot be added'],
  ['botcli init . -t lightrtc -m cascade --stt deepgram', 'error: The options do not describe a project.'],
])('the check of documented commands detects the invalid command %s', async (line, refusal) => {
  const document = `Do this:\n\n\`\`\`sh\ncd server && ${line}   # soon\n\`\`\`\n\nOr \`${line}\`, some day.\n`;
  expect(namedIn(document)).toEqual([line, line]);
  expect(await refused([line])).toEqual([expect.stringContaining(`${line}: ${refusal}`)]);
});
