import { describe } from 'vitest';
import { defineInstanceAdoptionTests } from './adoption.ts';
import { defineBuildTests } from './building.ts';
import { defineConversationTests } from './conversations.ts';
import { defineInstanceEndTests } from './ends.ts';
import type { RuntimeSetup } from './fixture.ts';
import { defineIsolationTests } from './isolation.ts';
import { defineOutputTests } from './output.ts';
import { definePreparationTests } from './preparation.ts';
import { defineResourceTests } from './resources.ts';
import { defineInstanceStartTests } from './starts.ts';

/**
 * Defines the suite that every runtime driver must pass. Its bots are small Node programs that evaluate JavaScript from the
 * tests. A driver that runs Python bots must also pass `definePythonBotTests`.
 */
export function defineRuntimeTests(name: string, setup: RuntimeSetup): void {
  describe(name, () => {
    definePreparationTests(setup);
    defineBuildTests(setup);
    defineInstanceStartTests(setup);
    defineInstanceEndTests(setup);
    defineOutputTests(setup);
    defineConversationTests(setup);
    defineResourceTests(setup);
    defineIsolationTests(setup);
    defineInstanceAdoptionTests(setup);
  });
}
