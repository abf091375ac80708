import { describe } from 'vitest';
import { describeInstanceAdoption } from './adoption.ts';
import { describeBuilds } from './building.ts';
import { describeInstanceEnds } from './ends.ts';
import type { RuntimeSetup } from './fixture.ts';
import { describeIsolation } from './isolation.ts';
import { describeOutput } from './output.ts';
import { describePreparation } from './preparation.ts';
import { describeResources } from './resources.ts';
import { describeInstanceStarts } from './starts.ts';

/**
 * Defines the suite that every runtime driver must pass. Its bots are small Node programs that evaluate JavaScript from the
 * tests. A driver that runs Python bots must also pass `describePythonBots`.
 */
export function describeRuntime(name: string, setup: RuntimeSetup): void {
  describe(name, () => {
    describePreparation(setup);
    describeBuilds(setup);
    describeInstanceStarts(setup);
    describeInstanceEnds(setup);
    describeOutput(setup);
    describeResources(setup);
    describeIsolation(setup);
    describeInstanceAdoption(setup);
  });
}
