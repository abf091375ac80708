import { existsSync } from 'node:fs';
import { resolve as absolute, basename, join } from 'node:path';
import { UsageError } from '../failure.ts';
import type { Io } from '../io/io.ts';
import type { Report } from '../output/report.ts';
import type { Configuration } from './configuration/configuration.ts';
import { type Making, makeGuides, makeProject, refuseBeforehand } from './make-project.ts';
import { isPersonThere, offerRefresh } from './offer-refresh.ts';
import { packageManagerFor } from './package-manager.ts';
import { guidesReport, projectReport } from './project-report.ts';

/** What is done with what was made; null when that is guides alone. */
export type Follow = (directory: string, configuration: Configuration | null) => Promise<void>;

/**
 * `init` without a word about the project: asks where, and whether a coding agent or the wizard makes it.
 * Where nobody can answer, a named directory gets the guides.
 */
export async function initByAsking(
  world: Io,
  asked: string | null,
  makingIn: (directory: string) => Making,
  follow: Follow,
): Promise<Report> {
  const person = isPersonThere(world);
  if (asked === null && !person) {
    throw new UsageError(
      'Name a directory, or describe the project with options: there is no terminal to ask on.',
      'For example: botcli init quickstart',
    );
  }
  const target = asked ?? (await world.prompter.text('Directory of the project', 'voice-bot', directoryRefused));
  const directory = absolute(world.directory, target);
  const making = makingIn(directory);
  if (person && !existsSync(join(directory, 'server')) && (await wantsWizard(world))) {
    refuseBeforehand(making);
    const { askForConfiguration } = await import('./wizard/wizard.ts');
    const configuration = await askForConfiguration(world.prompter, basename(directory));
    const settled = await offerRefresh(world, making, 'scaffold');
    const made = await makeProject(configuration, settled);
    await follow(directory, configuration);
    return projectReport(configuration, directory, made, packageManagerFor(directory, world.environment));
  }
  const settled = await offerRefresh(world, making, 'agent');
  const made = makeGuides(settled);
  await follow(directory, null);
  return guidesReport(directory, made);
}

async function wantsWizard(world: Io): Promise<boolean> {
  const answer = await world.prompter.select(
    'How do you want to build the bot?',
    [
      { value: 'agent', label: 'With a coding agent', hint: 'recommended: writes guides for it' },
      { value: 'wizard', label: 'Choose now', hint: 'a few questions, then a bot that runs' },
    ],
    'agent',
  );
  return answer === 'wizard';
}

function directoryRefused(text: string): string | null {
  // A shell would have replaced it; here it would become a directory of that name.
  if (/^~(\/|$)/.test(text)) return 'Write the path in full: ~ is not expanded here.';
  return text.trim() === '' ? 'Name a directory.' : null;
}
