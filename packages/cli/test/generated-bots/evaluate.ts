import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StandInVendors } from '../stand-in-vendors/stand-in-vendors.ts';
import type { GeneratedProject, ProcessResult } from './generated-project.ts';

const without = 'judge:\n  modality: text\n';
const judge = '  eval: {factory: judges.create_eval_judge, model: stand-in-judge}\n';

/**
 * Runs the project's text scenarios with `pipecat eval run` against the bot at `url`. A stand-in language model judges the bot's
 * answers. `change` edits the scenarios before the run.
 */
export async function runPipecatEvaluation(
  project: GeneratedProject,
  url: string,
  standIns: StandInVendors,
  change: (scenarios: string) => string = (scenarios) => scenarios,
): Promise<ProcessResult> {
  const scenarios = await readFile(join(project.directory, 'evals/text.yaml'), 'utf8');
  if (!scenarios.includes(without)) throw new Error('evals/text.yaml has no judge with "modality: text".');
  await writeFile(join(project.directory, 'evals/judged.yaml'), change(scenarios.replace(without, without + judge)));
  return project.run(['pipecat', 'eval', 'run', 'evals/judged.yaml', '-v', '--bot-url', url], judgeVariables(standIns));
}

/**
 * Runs `pipecat eval judge` on a conversation file with this content. A stand-in language model decides whether the conversation
 * meets `success`.
 */
export async function runPipecatJudge(
  project: GeneratedProject,
  conversation: string,
  success: string,
  standIns: StandInVendors,
): Promise<ProcessResult> {
  const simulation = `  - {name: call, persona: A caller, goal: An answer, success: ${JSON.stringify(success)}}\n`;
  await writeFile(
    join(project.directory, 'evals/calls.yaml'),
    `name: calls\n${without}${judge}scenarios:\n${simulation}`,
  );
  await writeFile(join(project.directory, 'call.json'), conversation);
  return project.run(['pipecat', 'eval', 'judge', 'evals/calls.yaml', 'call.json', '-v'], judgeVariables(standIns));
}

const judgeVariables = (standIns: StandInVendors) => ({
  OPENAI_BASE_URL: `http://${standIns.address}/v1`,
  PYTHONPATH: join(import.meta.dirname, '../stand-in-vendors'),
});
