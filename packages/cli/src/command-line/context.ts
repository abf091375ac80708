import type { Client } from '@bothost/contract';
import type { OutputMode } from '../output/output-mode.ts';
import { createTalk, type Talk } from '../output/talk.ts';
import { noProfile, type Profile, readProfile } from '../service/profile.ts';
import { type Settings, settle } from '../service/settings.ts';
import type { World } from '../world/world.ts';
import type { GlobalValues } from './global-options.ts';

/** What a word of a command line may become, and what that means; the meaning may be empty. */
export type Suggestion = { readonly word: string; readonly meaning: string };

type Suggest = (line: readonly string[]) => Promise<readonly Suggestion[]>;

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
  /** What the last word of a command line may become. */
  readonly suggest: Suggest;
  /** The service with the private key, acting in the organization of the settings. */
  readonly service: () => Promise<Client>;
};

/** What the command line says besides the command's own values, and what is known of the command. */
export type Call = {
  readonly flags: GlobalValues;
  readonly mode: OutputMode;
  /** The command asks no service: what is wrong with the profile must not stop it, and its keys are not read. */
  readonly isLocal: boolean;
  readonly suggest: Suggest;
};

/** Reads the profile and settles where the service is and who asks. Nothing is asked of the service yet. */
export async function createContext(world: World, { flags, mode, isLocal, suggest }: Call): Promise<Context> {
  const talk = createTalk(world, mode);
  const { say } = talk;
  const warn = (text: string) => say(`warning: ${text}`);
  const { environment } = world;
  const profile = isLocal ? noProfile : await readProfile(environment.profileFile, warn);
  const settings = settle(isLocal ? {} : flags, isLocal ? { ...environment, apiUrl: null } : environment, profile);
  return {
    world,
    mode,
    talk,
    settings,
    profile,
    say,
    warn,
    suggest,
    service: async () => {
      const { connect, usableKey } = await import('../service/connection.ts');
      const key = usableKey('private', settings.privateKey, warn);
      return connect(world, settings.origin.value, key, settings.organization?.value);
    },
  };
}
