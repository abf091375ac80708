import { z } from 'zod';
import {
  AgentProfile,
  AudioFilter,
  ConversationLevel,
  CpuArchitecture,
  type DeploySource,
  ImageReferenceText,
  MaxAgents,
  MaxSessionDuration,
  MinAgents,
  unsupportedAgentSettingMessages,
  WebsocketAuth,
  WebsocketStart,
} from './agent-fields.ts';
import { ConversationRedaction } from './conversation/redaction.ts';
import type { ValidationIssue } from './errors.ts';
import { findClosestWord } from './find-closest-word.ts';
import { defaultAgentProfile, instanceCountLimits, sessionDurationLimitsSeconds } from './limits.ts';
import { replaceBracketsWithParentheses } from './replace-brackets-with-parentheses.ts';
import { ResourceName } from './resource-name.ts';

/** Possible names of a deploy file. Only the first existing file is read. */
export const deployFileNames = ['deploy.toml', 'pcc-deploy.toml'] as const;

const text = z.string().min(1, 'is empty');

const Scaling = z
  .strictObject({
    // Its default depends on what is deployed.
    min_agents: MinAgents.optional(),
    max_agents: MaxAgents.default(instanceCountLimits.defaultMaximum),
  })
  .refine(({ min_agents: minimum = 0, max_agents: maximum }) => minimum <= maximum, 'min_agents is above max_agents');

/** The keys of a deploy file. Any other key is an error. */
const Schema = z.strictObject({
  agent_name: ResourceName,
  image: ImageReferenceText.regex(/[:@][^/]+$/, 'name a tag, as in name:1.0').optional(),
  build_id: z.uuid('is not the id of a build').optional(),
  image_credentials: text.optional(),
  secret_set: text.optional(),
  region: text.optional(),
  agent_profile: AgentProfile.default(defaultAgentProfile),
  websocket_auth: WebsocketAuth.default('token'),
  // `websocket_start` has no default, so a file without this key leaves the setting unchanged. Users of Pipecat Cloud's CLI
  // must omit the key, because their CLI rejects it.
  websocket_start: WebsocketStart.optional(),
  fork: z.boolean().default(true),
  max_session_duration: MaxSessionDuration.default(sessionDurationLimitsSeconds.default),
  // Like `websocket_start`, this table has no default and leaves the setting unchanged.
  conversation: z
    .strictObject({ level: ConversationLevel.optional(), redact: ConversationRedaction.optional() })
    .optional(),
  architecture: CpuArchitecture.optional(),
  resources: z.strictObject({ cpu: z.union([text, z.number()]), memory: z.union([text, z.number()]) }).optional(),
  git: z
    .strictObject({
      repo: text,
      branch: text.optional(),
      dockerfile_path: text.optional(),
      subdirectory: text.optional(),
    })
    .optional(),
  scaling: Scaling.prefault({}),
  krisp_viva: z.strictObject({ audio_filter: AudioFilter.optional() }).optional(),
  build: z
    .strictObject({
      context_dir: text.default('.'),
      dockerfile: text.optional(),
      exclude: z.strictObject({ patterns: z.array(text).default([]) }).prefault({}),
    })
    .prefault({}),
  docker: z
    .strictObject({
      registry: text.optional(),
      registry_username: text.optional(),
      registry_url: text.optional(),
      auto_latest: z.boolean().optional(),
    })
    .optional(),
});

export type DeployFile = z.output<typeof Schema>;

export type DeployFileCheckResult =
  | { readonly file: DeployFile; readonly issues: readonly [] }
  | { readonly file: null; readonly issues: readonly ValidationIssue[] };

/** Checks a parsed `deploy.toml`. `path` is the key of a problem, such as `scaling.min_agents`, or empty for the whole file. */
export function checkDeployFile(parsed: unknown): DeployFileCheckResult {
  const result = Schema.safeParse(parsed);
  if (result.success) {
    const conflicts = conflictsOf(result.data);
    return conflicts.length === 0 ? { file: result.data, issues: [] } : { file: null, issues: conflicts };
  }
  return { file: null, issues: result.error.issues.flatMap((issue) => describe(issue, parsed)) };
}

/** Returns an issue for each setting that a deploy file may contain but a region that accepts `accepts` does not support. */
export function findUnsupportedDeploySettings(file: DeployFile, accepts: DeploySource): readonly ValidationIssue[] {
  const messages = unsupportedAgentSettingMessages[accepts];
  const settings: readonly (readonly [string, unknown, string | null])[] = [
    ['image', file.image, messages.image],
    ['image_credentials', file.image_credentials, messages.imageCredentials],
    ['build_id', file.build_id, messages.build],
    ['git', file.git, messages.git],
    ['docker', file.docker, messages.docker],
    ['resources', file.resources, messages.resources],
    ['architecture', file.architecture, messages.architecture],
    ['krisp_viva.audio_filter', file.krisp_viva?.audio_filter, messages.audioFilter],
  ];
  return settings.flatMap(([path, value, message]) =>
    value === undefined || message === null ? [] : [{ path, message }],
  );
}

/** Returns an issue for each pair of keys that cannot be combined. */
function conflictsOf(file: DeployFile): ValidationIssue[] {
  const both = (path: string, other: string): ValidationIssue => ({
    path,
    message: `cannot be combined with ${other}; remove one of the two keys`,
  });
  const issues: ValidationIssue[] = [];
  if (file.image !== undefined && file.build_id !== undefined) issues.push(both('image', 'build_id'));
  if (file.git === undefined) return issues;
  for (const other of ['image', 'build_id', 'resources'] as const) {
    if (file[other] !== undefined) issues.push(both('git', other));
  }
  return issues;
}

/** Hints for keys that earlier versions accepted, and for keys in the wrong table. */
const renamedKeys: Readonly<Record<string, string>> = {
  'scaling.min_instances': 'was renamed: use min_agents',
  'scaling.max_instances': 'was renamed: use max_agents',
  min_agents: 'belongs in the table scaling',
  max_agents: 'belongs in the table scaling',
  min_instances: 'was renamed: use min_agents in the table scaling',
  max_instances: 'was renamed: use max_agents in the table scaling',
  enable_krisp: 'is no longer supported: remove it',
};

function describe(issue: z.core.$ZodIssue, parsed: unknown): ValidationIssue[] {
  const table = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') {
    const value = valueAt(parsed, issue.path);
    const missing = value === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_union');
    return [
      {
        path: table.join('.'),
        message: missing ? 'is missing' : replaceBracketsWithParentheses(describeIssue(issue, value)),
      },
    ];
  }
  return issue.keys.map((key) => {
    const path = [...table, key].join('.');
    return { path, message: renamedKeys[path] ?? unknownKey(key, table) };
  });
}

/**
 * Describes the expected value with the type names of TOML, or returns the schema's own message. All numbers are integers, and
 * some fields accept a number or a string.
 */
function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}, not ${typeof value === 'number' ? value : typeNameOf(value)}`;
    case 'invalid_union':
      return `must be a string or a number, not ${typeNameOf(value)}`;
    case 'invalid_value':
      return `must be ${new Intl.ListFormat('en', { type: 'disjunction' }).format(issue.values.map(String))}`;
    case 'too_small':
      return issue.origin === 'string' ? issue.message : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' ? issue.message : `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a table',
  array: 'a list',
};

function typeNameOf(value: unknown): string {
  if (value instanceof Date) return 'a date';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'number' || typeof value === 'bigint' ? 'a number' : (typeNames[typeof value] ?? 'that');
}

function unknownKey(key: string, table: readonly string[]): string {
  const suggestion = findClosestWord(key, keysOf(table));
  return suggestion === null ? 'is not a known key' : `is not a known key. Did you mean ${suggestion}?`;
}

function keysOf(table: readonly string[]): readonly string[] {
  let schema: z.core.$ZodType | undefined = Schema;
  for (const name of table) schema = inner(schema)?.shape[name];
  return Object.keys(inner(schema)?.shape ?? {});
}

/** Returns the object schema inside optional and default wrappers, or null. */
function inner(schema: z.core.$ZodType | undefined): z.ZodObject | null {
  if (schema instanceof z.ZodObject) return schema;
  return schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? inner(schema.unwrap()) : null;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
}
