import type { Client } from '@bothost/contract';
import type { GlobalValues, OutputMode } from './global-options.ts';
import { type Profile, readProfile } from './profile.ts';
import { type Settings, settle } from './settings.ts';
import { createTalk, type Talk } from './talk.ts';
import type { World } from './world.ts';

/** What a command gets to work with. */
export type Context = {
  readonly world: World;
  /** Flags, environment and profile, settled. */
  readonly settings: Settings;
  readonly profile: Profile;
  readonly mode: OutputMode;
  /** To standard error in every mode. */
  readonly talk: Talk;
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  /** The service with the private key, acting in the organization of the settings. */
  readonly service: () => Promise<Client>;
};

/** Reads the profile and settles where the service is and who asks. Nothing is asked of the service yet. */
export async function createContext(world: World, flags: GlobalValues, mode: OutputMode): Promise<Context> {
  const talk = createTalk(world, mode);
  const { say } = talk;
  const warn = (text: string) => say(`warning: ${text}`);
  const profile = await readProfile(world.environment.profileFile, warn);
  const settings = settle(flags, world.environment, profile);
  return {
    world,
    mode,
    talk,
    settings,
    profile,
    say,
    warn,
    service: async () => {
      const { connect, usableKey } = await import('./connection.ts');
      const key = usableKey('private', settings.privateKey, warn);
      return connect(world, settings.origin.value, key, settings.organization?.value);
    },
  };
}
