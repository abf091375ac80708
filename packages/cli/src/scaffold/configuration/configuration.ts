import type { CallDirection } from '../catalogue/transport.ts';

/**
 * Everything that determines the files of a project. `--dry-run` prints the configuration, `--config` reads it, and
 * `.botcli/project.json` stores it, with the keys in this order.
 */
export type ProjectConfiguration = {
  /** The name of the project, which can be any text. Its slug names the agent and the package. */
  readonly project_name: string;
  readonly bot_type: BotType;
  /** Canonical transport names with their call direction, such as `hostedrtc_pstn_dialin`. */
  readonly transports: readonly string[];
  readonly mode: PipelineMode;
  readonly stt_service: string | null;
  readonly llm_service: string | null;
  readonly tts_service: string | null;
  readonly realtime_service: string | null;
  readonly video_service: string | null;
  readonly generate_client: boolean;
  readonly client_framework: ClientFramework | null;
  readonly client_server: ClientWebServer | null;
  readonly daily_pstn_mode: CallDirection | null;
  readonly twilio_daily_sip_mode: CallDirection | null;
  readonly video_input: boolean;
  readonly video_output: boolean;
  readonly recording: boolean;
  readonly transcription: boolean;
  readonly deploy_to_cloud: boolean;
  readonly enable_nc: boolean;
  readonly enable_observability: boolean;
  readonly enable_eval: boolean;
};

export const botTypes = ['web', 'telephony'] as const;
export type BotType = (typeof botTypes)[number];
export const pipelineModes = ['cascade', 'realtime'] as const;
export type PipelineMode = (typeof pipelineModes)[number];
export const clientFrameworks = ['react', 'vanilla'] as const;
export type ClientFramework = (typeof clientFrameworks)[number];
export const clientFrameworkAnswers = [...clientFrameworks, 'none'] as const;
export const clientWebServers = ['vite', 'nextjs'] as const;
export type ClientWebServer = (typeof clientWebServers)[number];

/** A problem with one key of the configuration, or with the whole configuration if the path is empty. */
export type ConfigurationIssue = { readonly path: string; readonly message: string };
