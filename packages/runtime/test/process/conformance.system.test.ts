import { describe } from 'vitest';
import { defineRuntimeTests, defineSourceRuntimeTests } from '../conformance/conformance.ts';
import { definePythonBotTests } from '../conformance/python-bot.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

/**
 * The process driver recognizes the processes of an instance by one of several methods (kinds of containment). These tests use
 * the less reliable methods. `npm test` uses the most reliable method, but without Python bots, because their environments take
 * long to install.
 */
const [strongest, ...others] = availableContainmentKinds;
for (const kind of others) {
  const setup = createProcessRuntimeSetup(kind);
  defineRuntimeTests(`process driver, containment by ${kind}`, setup);
  defineSourceRuntimeTests(`process driver, containment by ${kind}`, setup);
}

// Test Python bots with the strongest kind of containment, which gives each bot its own user account if the tests run as root.
// Then test them with the kind `mark` (an environment variable), with which all bots use the service's account.
for (const kind of new Set([strongest, 'mark'] as const)) {
  describe(`process driver, containment by ${kind}`, () => definePythonBotTests(createProcessRuntimeSetup(kind)));
}
