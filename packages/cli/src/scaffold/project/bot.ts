import { serviceRoleLabels } from '../catalogue/vendor-service.ts';
import type { ProjectPlan } from '../configuration/plan.ts';
import type { PythonImport } from '../python/expression.ts';
import { formatImportBlock } from '../python/imports.ts';
import { dialsOut, generateCallBridgeCode, generateDialOutCode, generateIsPhoneCallCode } from './bot-calls.ts';
import { generateEntryPoint } from './bot-entry.ts';
import { generateWavWriter } from './bot-recording.ts';
import { generateRunBotFunction } from './bot-run.ts';
import { generateTransportParameters } from './bot-transports.ts';
import { createPythonCode, escapeDocstring, joinPythonCode, type PythonCode, toPythonString } from './code.ts';

/** Generates `server/bot.py`, formatted and lint-clean. Its comments explain each section to a beginner. */
export function generateBotFile(plan: ProjectPlan): string {
  const setUp = createPythonCode(
    ['# Read the keys and settings from the file .env.', 'load_dotenv(override=True)'],
    ['dotenv', 'load_dotenv'],
  );
  const parts = [constants(plan), generateTransportParameters(plan)];
  const body = joinPythonCode(
    [
      joinPythonCode([setUp, ...parts], 1),
      generateIsPhoneCallCode(plan),
      generateDialOutCode(plan),
      generateCallBridgeCode(plan),
      generateWavWriter(plan),
      generateRunBotFunction(plan),
      generateEntryPoint(plan),
      main,
    ],
    2,
  );
  return `${[...header(plan), '', ...formatImportBlock(distinct(body.imports)), '', ...body.lines].join('\n')}\n`;
}

const main = createPythonCode([
  '# `uv run bot.py` starts the development runner of Pipecat, which calls bot() for each session.',
  'if __name__ == "__main__":',
  '    from pipecat.runner.run import main',
  '',
  '    main()',
]);

function header(plan: ProjectPlan): readonly string[] {
  const { configuration } = plan;
  return [
    `"""${escapeDocstring(configuration.project_name)}: a voice bot.`,
    '',
    ...serviceList(plan),
    '',
    'Run it with `uv run bot.py`. The README explains how to reach it. The sections of this file:',
    '',
    '- SYSTEM_INSTRUCTION: what the bot is and how it speaks; change this first',
    ...(generateTransportParameters(plan).lines.length > 0
      ? ['- transport_params: audio and video settings of each transport']
      : []),
    '- run_bot: one conversation, from its services and pipeline to its events',
    '- bot: the entry point, called for each session',
    '',
    'Documentation: https://docs.pipecat.ai',
    '"""',
  ];
}

function serviceList(plan: ProjectPlan): readonly string[] {
  return plan.services.map(({ service }) => `- ${serviceRoleLabels[service.kind]}: ${service.label}`);
}

function constants(plan: ProjectPlan): PythonCode {
  const lines = [
    ...(dialsOut(plan) || plan.has('bridged-dial-in')
      ? [`BOT_NAME = ${toPythonString(plan.configuration.project_name)}`, '']
      : []),
    ...(dialsOut(plan) ? ['DIAL_ATTEMPTS = 5', ''] : []),
    '# What the bot is and how it speaks. The language model gets this text with every request.',
    'SYSTEM_INSTRUCTION = (',
    '    "You are a friendly and helpful voice assistant. Everything you say is read aloud, so answer in "',
    '    "a few plain sentences, without lists, markup, emojis or anything else that cannot be spoken."',
    ')',
  ];
  return createPythonCode(lines);
}

function distinct(imports: readonly PythonImport[]): readonly PythonImport[] {
  return [...new Map(imports.map((one) => [`${one.module} ${one.name ?? ''}`, one])).values()];
}
