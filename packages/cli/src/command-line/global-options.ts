import { type OutputMode, outputModes } from '../output/output-mode.ts';
import { choiceOption, flagOption, textOption } from './options.ts';

/** Every command accepts the global options, anywhere on the command line. */
export const globalOptions = {
  output: choiceOption({ description: 'Output mode: rich (default on a terminal), plain or json' }, outputModes),
  json: flagOption('Short for --output json'),
  'api-url': textOption({
    description: 'URL of the service; overrides BOTCLI_API_URL and the profile',
    placeholder: 'URL',
  }),
  organization: textOption({
    description: 'Name or id of the organization to act in',
    short: 'o',
    placeholder: 'NAME',
  }),
  help: flagOption('Show help', 'h'),
  version: flagOption('Show the version'),
} as const;

export type GlobalOptionValues = {
  readonly output: OutputMode | undefined;
  readonly json: boolean;
  readonly 'api-url': string | undefined;
  readonly organization: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
};
