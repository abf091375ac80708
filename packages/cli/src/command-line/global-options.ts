import { type OutputMode, outputModes } from '../output/output-mode.ts';
import { choice, flag, text } from './options.ts';

/** Options of every command. They can be anywhere on the command line. */
export const globalOptions = {
  output: choice({ description: 'Output mode: rich (default on a terminal), plain or json' }, outputModes),
  json: flag('Short for --output json'),
  'api-url': text({
    description: 'URL of the service; overrides BOTCLI_API_URL and the profile',
    placeholder: 'URL',
  }),
  organization: text({ description: 'Name or id of the organization to act in', short: 'o', placeholder: 'NAME' }),
  help: flag('Show help', 'h'),
  version: flag('Show the version'),
} as const;

export type GlobalValues = {
  readonly output: OutputMode | undefined;
  readonly json: boolean;
  readonly 'api-url': string | undefined;
  readonly organization: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
};
