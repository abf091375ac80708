import type { Client } from '@bothost/contract';
import type { Io } from '../io/io.ts';
import { createMessages, type Messages } from '../output/messages.ts';
import type { OutputMode } from '../output/output-mode.ts';
import { noProfile, type Profile, readProfile } from '../service/profile.ts';
import { resolveSettings, type Settings } from '../service/settings.ts';
import type { GlobalValues } from './global-options.ts';

/** What a word of a command line may become, and what that means; the meaning may be empty. */
export type Suggestion = { readonly word: string; readonly meaning: string };

type Suggest = (line: readonly string[]) => Promise<readonly Suggestion[]>;

/** What a command gets to work with. */
export type Context = {
  readonly io: Io;
  /** Flags, environment and profile, settled. */
  readonly settings: Settings;
  readonly profile: Profile;
  readonly mode: OutputMode;
  /** To standard error in every mode. */
  readonly messages: Messages;
  readonly notify: (text: string) => void;
  readonly warn: (text: string) => void;
  /** What the last word of a command line may become. */
  readonly suggest: Suggest;
  /** The service with the private key, acting in the organization of the settings. */
  readonly service: () => Promise<Client>;
};

/** What the command line says besides the command's own values, and what is known of the command. */
export type ContextOptions = {
  readonly flags: GlobalValues;
  readonly mode: OutputMode;
  /** The command asks no service: what is wrong with the profile must not stop it, and its keys are not read. */
  readonly isLocal: boolean;
  readonly suggest: Suggest;
};

/** Reads the profile and settles where the service is and who asks. Nothing is asked of the service yet. */
export async function createContext(io: Io, { flags, mode, isLocal, suggest }: ContextOptions): Promise<Context> {
  const messages = createMessages(io, mode);
  const { notify } = messages;
  const warn = (text: string) => notify(`warning: ${text}`);
  const { environment } = io;
  const profile = isLocal ? noProfile : await readProfile(environment.profileFile, warn);
  const settings = resolveSettings(
    isLocal ? {} : flags,
    isLocal ? { ...environment, apiUrl: null } : environment,
    profile,
  );
  return {
    io,
    mode,
    messages,
    settings,
    profile,
    notify,
    warn,
    suggest,
    service: async () => {
      const { connect, usableKey } = await import('../service/connection.ts');
      const key = usableKey('private', settings.privateKey, warn);
      return connect(io, settings.origin.value, key, settings.organization?.value);
    },
  };
}
