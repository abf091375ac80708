import { describe } from 'vitest';
import { defineInstanceAdoptionTests } from './adoption.ts';
import { defineBuildTests } from './building.ts';
import { defineConversationTests, defineLocalConversationTests } from './conversations.ts';
import { defineInstanceEndTests } from './ends.ts';
import type { RuntimeSetup, SourceRuntimeSetup } from './fixture.ts';
import { defineIsolationTests } from './isolation.ts';
import { defineLocalStartTests } from './local-starts.ts';
import { defineOutputTests } from './output.ts';
import { definePreparationTests } from './preparation.ts';
import { defineResourceTests } from './resources.ts';
import { defineInstanceStartTests } from './starts.ts';

/**
 * Defines the suite that every runtime driver must pass. Its bots are small Node programs that evaluate JavaScript from the
 * tests. The setup makes them: as directories, or as images.
 */
export function defineRuntimeTests(name: string, setup: RuntimeSetup): void {
  describe(name, () => {
    defineInstanceStartTests(setup);
    defineInstanceEndTests(setup);
    defineOutputTests(setup);
    defineConversationTests(setup);
    defineResourceTests(setup);
    defineInstanceAdoptionTests(setup);
  });
}

/**
 * Defines the suite that a driver must also pass if it accepts sources and runs bots on this machine. A driver that runs Python
 * bots must also pass `definePythonBotTests`.
 */
export function defineSourceRuntimeTests(name: string, setup: SourceRuntimeSetup): void {
  describe(name, () => {
    definePreparationTests(setup);
    defineBuildTests(setup);
    defineLocalStartTests(setup);
    defineLocalConversationTests(setup);
    defineIsolationTests(setup);
  });
}
