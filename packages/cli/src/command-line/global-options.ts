import { type OutputMode, outputModes } from '../output/output-mode.ts';
import { choice, flag, text } from './options.ts';

/** Options that every command takes, before or after its words. */
export const globalOptions = {
  output: choice({ description: 'How to print: rich (default on a terminal), plain or json' }, outputModes),
  json: flag('Short for --output json'),
  'api-url': text({
    description: 'URL of the service; wins over BOTCLI_API_URL and the profile',
    placeholder: 'URL',
  }),
  organization: text({ description: 'Organization to act in: its name or id', short: 'o', placeholder: 'NAME' }),
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
