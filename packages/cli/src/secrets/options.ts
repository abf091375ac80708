import {
  durationOption,
  flagOption,
  integerOption,
  type OptionalValueOption,
  optionalValueOption,
  textOption,
} from '../command-line/options.ts';

export const skipConfirmationOption = flagOption('Skip the confirmation', 's');
export const dryRunOption = flagOption('Show what would change, then exit');
export const regionOption = textOption({
  description: 'Region of a new set (default: region of the organization)',
  short: 'r',
  placeholder: 'REGION',
});
export const expectedRevisionOption = integerOption(
  { description: 'Fail unless the set is at this revision; 0 means that it must not exist' },
  0,
  2_147_483_647,
);
/** The option `--wait` or `--wait=SPAN`. Its parsed value is in seconds. */
export const waitOption: OptionalValueOption<number> = optionalValueOption(
  durationOption({ description: 'Wait until the region has the new revision, 60s by default' }, 86_400),
  60,
);
