import type { ApiClient } from '@bothost/contract';
import { emptyProfile, type Profile, readProfile } from '../connection/profile.ts';
import { createVersionCheckedFetch } from '../connection/service-version.ts';
import { resolveSettings, type Settings } from '../connection/settings.ts';
import type { CommandIo } from '../io/io.ts';
import { createMessagePrinter, type MessagePrinter } from '../output/message-printer.ts';
import type { OutputMode } from '../output/output-mode.ts';
import type { GlobalOptionValues } from './global-options.ts';

export type CompletionSuggestion = { readonly word: string; readonly description: string };

type Suggest = (line: readonly string[]) => Promise<readonly CompletionSuggestion[]>;

export type CommandContext = {
  readonly io: CommandIo;
  readonly settings: Settings;
  readonly profile: Profile;
  readonly mode: OutputMode;
  readonly messages: MessagePrinter;
  readonly notify: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Lists the completions of the last word of a command line. */
  readonly suggest: Suggest;
  /** Returns an API client with the configured private key and organization. */
  readonly service: () => Promise<ApiClient>;
  /**
   * Returns an API client for operations that need a personal access token (`key: 'member'`). Throws a `Failure` if the
   * configured key is an API key, or if no organization is set.
   */
  readonly memberService: () => Promise<ApiClient>;
};

export type CommandContextOptions = {
  readonly flags: GlobalOptionValues;
  readonly mode: OutputMode;
  /**
   * True for a command that sends no requests. Such a command does not read the profile, so an invalid profile cannot stop it.
   */
  readonly isLocal: boolean;
  readonly suggest: Suggest;
};

export async function createCommandContext(
  processIo: CommandIo,
  { flags, mode, isLocal, suggest }: CommandContextOptions,
): Promise<CommandContext> {
  const messages = createMessagePrinter(processIo, mode);
  const { notify } = messages;
  const warn = (text: string) => notify(`warning: ${text}`);
  const { environment } = processIo;
  const profile = isLocal ? emptyProfile : await readProfile(environment.profileFile, warn);
  const settings = resolveSettings(
    isLocal ? {} : flags,
    isLocal ? { ...environment, apiUrl: null } : environment,
    profile,
  );
  const io = { ...processIo, fetch: createVersionCheckedFetch(processIo.fetch, settings.origin.value, warn) };
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
      const { createServiceClient, requireApiKey } = await import('../connection/connection.ts');
      const key = requireApiKey('private', settings.privateKey, warn);
      return createServiceClient(io, settings.origin.value, key, settings.organization?.value);
    },
    memberService: async () => {
      const { createServiceClient, requireOrganization, requirePersonalToken } = await import(
        '../connection/connection.ts'
      );
      const token = requirePersonalToken(settings.privateKey, warn);
      return createServiceClient(io, settings.origin.value, token, requireOrganization(settings.organization));
    },
  };
}
