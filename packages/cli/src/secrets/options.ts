import { flag, integer, type OptionalValueOption, optionalValue, span, text } from '../command-line/options.ts';

/** Options that several `secrets` commands share. */
export const skip = flag('Skip the confirmation', 's');
export const dryRun = flag('Show what would change, then exit');
export const region = text({
  description: 'Region of a new set (default: region of the organization)',
  short: 'r',
  placeholder: 'REGION',
});
export const ifRevision = integer(
  { description: 'Fail unless the set is at this revision; 0: unless it does not exist' },
  0,
  2_147_483_647,
);
/** Seconds. */
export const wait: OptionalValueOption<number> = optionalValue(
  span({ description: 'Wait until the region has the new revision, 60s by default' }, 86_400),
  60,
);
