import { existsSync } from 'node:fs';
import { resolve as absolute, basename, join } from 'node:path';
import { UsageError } from '../failure.ts';
import type { CommandIo } from '../io/io.ts';
import type { CommandReport } from '../output/report.ts';
import type { ProjectConfiguration } from './configuration/configuration.ts';
import { checkTargetDirectory, makeProject, type ProjectWriteOptions, writeCodingAgentGuides } from './make-project.ts';
import { isInteractive, offerCodingAgentGuideRefresh } from './offer-refresh.ts';
import { detectPackageManager } from './package-manager.ts';
import { createCodingAgentGuidesReport, createProjectReport } from './project-report.ts';

/** Runs the follow-up steps for a new project. The configuration is null if only the guides for coding agents were written. */
export type FollowUpStepsRunner = (directory: string, configuration: ProjectConfiguration | null) => Promise<void>;

/**
 * Runs `init` without options. Asks for the directory, and whether to create a bot or guides for a coding agent. Without a
 * terminal, writes the guides to the directory on the command line.
 */
export async function initInteractively(
  io: CommandIo,
  target: string | null,
  writeOptionsFor: (directory: string) => ProjectWriteOptions,
  followUp: FollowUpStepsRunner,
): Promise<CommandReport> {
  const interactive = isInteractive(io);
  if (target === null && !interactive) {
    throw new UsageError(
      'There is no terminal for questions. Pass a directory, or describe the project with options.',
      'To create a bot without questions, run: botcli init quickstart',
    );
  }
  const name = target ?? (await io.prompter.text('Directory of the project', 'voice-bot', directoryProblem));
  const directory = absolute(io.directory, name);
  const hasBot = existsSync(join(directory, 'server'));
  const start = interactive && !hasBot ? await chooseStart(io) : 'agent';
  const requested = writeOptionsFor(directory);
  if (start === 'agent') {
    const writeOptions = await offerCodingAgentGuideRefresh(io, requested, 'agent');
    const result = writeCodingAgentGuides(writeOptions);
    await followUp(directory, null);
    return createCodingAgentGuidesReport(directory, result);
  }
  checkTargetDirectory(requested);
  const { askForConfiguration, createRecommendedConfiguration: recommendedConfiguration } = await import(
    './wizard/wizard.ts'
  );
  const configuration = await (start === 'recommended'
    ? recommendedConfiguration(basename(directory))
    : askForConfiguration(io.prompter, basename(directory)));
  const writeOptions = await offerCodingAgentGuideRefresh(io, requested, 'scaffold');
  const result = await makeProject(configuration, writeOptions);
  await followUp(directory, configuration);
  return createProjectReport(configuration, directory, result, detectPackageManager(directory, io.environment));
}

async function chooseStart(io: CommandIo) {
  return io.prompter.select(
    'How do you want to build the bot?',
    [
      {
        value: 'recommended',
        label: 'Create the recommended bot',
        hint: 'a bot for the browser, with Deepgram, OpenAI and Cartesia',
      },
      { value: 'wizard', label: 'Choose transport, services and features', hint: 'asks a few questions about the bot' },
      { value: 'agent', label: 'With a coding agent', hint: 'writes guides for a coding agent, but no bot' },
    ],
    'recommended',
  );
}

function directoryProblem(text: string): string | null {
  // Only shells expand `~`. Without this check, a directory with the name `~` would be created.
  if (/^~(\/|$)/.test(text)) return 'Write the path in full: ~ is not expanded here.';
  return text.trim() === '' ? 'Enter a directory.' : null;
}
