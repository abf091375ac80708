import { describe } from 'vitest';
import { describeRuntime } from '../conformance/conformance.ts';
import { describePythonBots } from '../conformance/python-bot.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

/**
 * Test the weaker kinds of containment, which are the ways to recognize the processes of an instance. `npm test` tests the
 * strongest kind, but without Python bots, because their environments take long to install.
 */
const [strongest, ...others] = availableContainmentKinds;
for (const kind of others) describeRuntime(`process driver, containment by ${kind}`, createProcessRuntimeSetup(kind));

// Runs the tests of Python bots for bots with their own accounts, and for bots that share the service's account.
for (const kind of new Set([strongest, 'mark'] as const)) {
  describe(`process driver, containment by ${kind}`, () => describePythonBots(createProcessRuntimeSetup(kind)));
}
