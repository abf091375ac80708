import { describe } from 'vitest';
import type { RuntimeSetup } from './fixture.ts';
import { describeLife } from './life.ts';

/** What every driver has to pass, with real bots: small Node programs that do what they are told. */
export function describeRuntime(name: string, setup: RuntimeSetup): void {
  describe(name, () => {
    describeLife(setup);
  });
}
