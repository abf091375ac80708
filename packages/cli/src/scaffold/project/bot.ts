import { serviceRoles } from '../catalogue/service.ts';
import type { Plan } from '../configuration/plan.ts';
import type { Import } from '../python/expression.ts';
import { importBlock } from '../python/imports.ts';
import { bridge, callTest, dialOut, dialsOut } from './bot-calls.ts';
import { entry } from './bot-entry.ts';
import { recorder } from './bot-recording.ts';
import { conversation } from './bot-run.ts';
import { transportParameters } from './bot-transports.ts';
import { type Code, code, docstring, join, literal } from './code.ts';

/** `server/bot.py`, formatted and lint-clean. Its comments explain each section to a beginner. */
export function botFile(plan: Plan): string {
  const setUp = code(
    ['# Read the keys and settings from the file .env.', 'load_dotenv(override=True)'],
    ['dotenv', 'load_dotenv'],
  );
  const parts = [constants(plan), transportParameters(plan)];
  const body = join(
    [
      join([setUp, ...parts], 1),
      callTest(plan),
      dialOut(plan),
      bridge(plan),
      recorder(plan),
      conversation(plan),
      entry(plan),
      main,
    ],
    2,
  );
  return `${[...header(plan), '', ...importBlock(distinct(body.imports)), '', ...body.lines].join('\n')}\n`;
}

const main = code([
  '# `uv run bot.py` starts the development runner of Pipecat, which calls bot() for each session.',
  'if __name__ == "__main__":',
  '    from pipecat.runner.run import main',
  '',
  '    main()',
]);

function header(plan: Plan): readonly string[] {
  const { configuration } = plan;
  return [
    `"""${docstring(configuration.project_name)}: a voice bot.`,
    '',
    ...serviceList(plan),
    '',
    'Run it with `uv run bot.py`. The README explains how to reach it. The sections of this file:',
    '',
    '- SYSTEM_INSTRUCTION: what the bot is and how it speaks; change this first',
    ...(transportParameters(plan).lines.length > 0
      ? ['- transport_params: audio and video settings of each transport']
      : []),
    '- run_bot: one conversation, from its services and pipeline to its events',
    '- bot: the entry point, called for each session',
    '',
    'Documentation: https://docs.pipecat.ai',
    '"""',
  ];
}

function serviceList(plan: Plan): readonly string[] {
  return plan.services.map(({ service }) => `- ${serviceRoles[service.kind]}: ${service.label}`);
}

function constants(plan: Plan): Code {
  const lines = [
    ...(dialsOut(plan) || plan.has('bridged-dial-in')
      ? [`BOT_NAME = ${literal(plan.configuration.project_name)}`, '']
      : []),
    ...(dialsOut(plan) ? ['DIAL_ATTEMPTS = 5', ''] : []),
    '# What the bot is and how it speaks. The language model gets this text with every request.',
    'SYSTEM_INSTRUCTION = (',
    '    "You are a friendly and helpful voice assistant. Everything you say is read aloud, so answer in "',
    '    "a few plain sentences, without lists, markup, emojis or anything else that cannot be spoken."',
    ')',
  ];
  return code(lines);
}

function distinct(imports: readonly Import[]): readonly Import[] {
  return [...new Map(imports.map((one) => [`${one.module} ${one.name ?? ''}`, one])).values()];
}
