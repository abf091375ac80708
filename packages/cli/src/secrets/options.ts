import { flag, integer, type OptionalValueOption, optionalValue, span, text } from '../command-line/options.ts';

/** Options that the commands of secrets share. */
export const skip = flag('Do not ask', 's');
export const dryRun = flag('Show what would change, then exit');
export const region = text({
  description: 'Region of a new set; by default that of the organization',
  short: 'r',
  placeholder: 'REGION',
});
export const ifRevision = integer(
  { description: 'Only if the set is at this revision; 0: only if it does not exist' },
  0,
  2_147_483_647,
);
/** Seconds. */
export const wait: OptionalValueOption<number> = optionalValue(
  span({ description: 'Wait until the region has it, 60s by default' }, 86_400),
  60,
);
