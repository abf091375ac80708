/** Why a delivery failed, in words for the owner of the set. */
export const deliveryProblems = {
  damaged:
    'What is stored of this revision does not match what was written. Delete the set and set it again, and inform the operator.',
  keyAway:
    'This revision cannot be opened, because a root key of the service is missing. Ask the operator to put it back; the set then becomes ready automatically.',
  undelivered:
    'This revision could not be delivered. The service keeps trying; if it stays like this, ask the operator, whose log has the reason.',
} as const;

/** A delivery has no stamp, since it fails where its keys do: no other sentence that stands there is shown to anybody. */
export function shownProblem(stored: string): string {
  return Object.values<string>(deliveryProblems).includes(stored) ? stored : deliveryProblems.undelivered;
}
