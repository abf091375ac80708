import type { Client } from '@bothost/contract';
import type { Io } from '../io/io.ts';
import { createMessages, type Messages } from '../output/messages.ts';
import type { OutputMode } from '../output/output-mode.ts';
import { noProfile, type Profile, readProfile } from '../service/profile.ts';
import { resolveSettings, type Settings } from '../service/settings.ts';
import type { GlobalValues } from './global-options.ts';

/** A completion with its description, which may be empty. */
export type Suggestion = { readonly word: string; readonly meaning: string };

type Suggest = (line: readonly string[]) => Promise<readonly Suggestion[]>;

/** What a command works with. */
export type Context = {
  readonly io: Io;
  /** Merged from flags, environment and profile. */
  readonly settings: Settings;
  readonly profile: Profile;
  readonly mode: OutputMode;
  /** Writes to standard error in every mode. */
  readonly messages: Messages;
  readonly notify: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Completes the last word of a command line. */
  readonly suggest: Suggest;
  /** A client with the private key, for the organization of the settings. */
  readonly service: () => Promise<Client>;
};

/** The global options and properties of the command. */
export type ContextOptions = {
  readonly flags: GlobalValues;
  readonly mode: OutputMode;
  /** Do not read the profile: the command sends no requests, and an invalid profile must not stop it. */
  readonly isLocal: boolean;
  readonly suggest: Suggest;
};

/** Reads the profile and merges the settings. Sends no requests. */
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
