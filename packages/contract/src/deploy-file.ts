import { z } from 'zod';
import {
  AgentName,
  AgentProfile,
  Architecture,
  AudioFilter,
  MaxAgents,
  MaxSessionDuration,
  MinAgents,
  onlyBuilds,
  WebsocketAuth,
} from './agent-fields.ts';
import type { Issue } from './errors.ts';
import { agentInstances, defaultProfile, sessionSeconds } from './limits.ts';
import { closest } from './suggest.ts';

/** The names under which a project's file is looked for; the first that is there is read, the others are not. */
export const deployFileNames = ['deploy.toml', 'pcc-deploy.toml'] as const;

const text = z.string().min(1, 'is empty');

const Scaling = z
  .strictObject({
    min_agents: MinAgents.default(agentInstances.defaultMinimum),
    max_agents: MaxAgents.default(agentInstances.defaultMaximum),
  })
  .refine((scaling) => scaling.min_agents <= scaling.max_agents, 'min_agents is above max_agents');

/** All keys of `deploy.toml` (cloud API 10). An unknown key is an error, never ignored. */
const Schema = z.strictObject({
  agent_name: AgentName,
  image: text.regex(/:[^/]+$/, 'name a tag, as in name:1.0').optional(),
  build_id: z.uuid('is not the id of a build').optional(),
  image_credentials: text.optional(),
  secret_set: text.optional(),
  region: text.optional(),
  agent_profile: AgentProfile.default(defaultProfile),
  websocket_auth: WebsocketAuth.default('token'),
  max_session_duration: MaxSessionDuration.default(sessionSeconds.default),
  architecture: Architecture.optional(),
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

/** A `deploy.toml`, checked, with what was left out filled in. */
export type DeployFile = z.output<typeof Schema>;

export type ReadDeployFile =
  | { readonly file: DeployFile; readonly issues: readonly [] }
  | { readonly file: null; readonly issues: readonly Issue[] };

/**
 * Checks a parsed `deploy.toml`. All that is wrong comes at once: `path` is the key, as in `scaling.min_agents`, and empty
 * where it is the file as a whole.
 */
export function checkDeployFile(parsed: unknown): ReadDeployFile {
  const result = Schema.safeParse(parsed);
  if (result.success) {
    const conflicts = conflictsOf(result.data);
    return conflicts.length === 0 ? { file: result.data, issues: [] } : { file: null, issues: conflicts };
  }
  return { file: null, issues: result.error.issues.flatMap((issue) => describe(issue, parsed)) };
}

/** What the file asks for and a region that runs builds cannot do: it is well-formed, so it is told apart from mistakes. */
export function beyondBuilds(file: DeployFile): readonly Issue[] {
  const asked: readonly (readonly [string, unknown, string])[] = [
    ['image', file.image, onlyBuilds.image],
    ['image_credentials', file.image_credentials, onlyBuilds.imageCredentials],
    ['git', file.git, onlyBuilds.git],
    ['docker', file.docker, onlyBuilds.docker],
    ['resources', file.resources, onlyBuilds.resources],
    ['architecture', file.architecture, onlyBuilds.architecture],
    ['krisp_viva.audio_filter', file.krisp_viva?.audio_filter, onlyBuilds.audioFilter],
  ];
  return asked.flatMap(([path, value, message]) => (value === undefined ? [] : [{ path, message }]));
}

/** Keys of which a file has only one (cloud API 10). */
function conflictsOf(file: DeployFile): Issue[] {
  const both = (path: string, other: string): Issue => ({ path, message: `excludes ${other}: keep one of the two` });
  const issues: Issue[] = [];
  if (file.image !== undefined && file.build_id !== undefined) issues.push(both('image', 'build_id'));
  if (file.git === undefined) return issues;
  for (const other of ['image', 'build_id', 'resources'] as const) {
    if (file[other] !== undefined) issues.push(both('git', other));
  }
  return issues;
}

/** Keys that were once written otherwise, or never did here what their name says. */
const refused: Readonly<Record<string, string>> = {
  'scaling.min_instances': 'is an old name: use min_agents',
  'scaling.max_instances': 'is an old name: use max_agents',
  min_agents: 'belongs in the table scaling',
  max_agents: 'belongs in the table scaling',
  min_instances: 'is an old name: use min_agents in the table scaling',
  max_instances: 'is an old name: use max_agents in the table scaling',
  enable_krisp: 'is no longer supported: leave it out',
};

function describe(issue: z.core.$ZodIssue, parsed: unknown): Issue[] {
  const place = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') {
    const value = valueAt(parsed, issue.path);
    const missing = value === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_union');
    return [{ path: place.join('.'), message: missing ? 'is missing' : plain(sentence(issue, value)) }];
  }
  return issue.keys.map((key) => {
    const path = [...place, key].join('.');
    return { path, message: refused[path] ?? unknownKey(key, place) };
  });
}

/** In the words of a file; where the schema has a sentence of its own, that one. A number that is no alternative to a text is whole. */
function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `takes ${kinds[issue.expected] ?? issue.expected}, not ${typeof value === 'number' ? value : kindOf(value)}`;
    case 'invalid_union':
      return `takes a string or a number, not ${kindOf(value)}`;
    case 'invalid_value':
      return `takes ${new Intl.ListFormat('en', { type: 'disjunction' }).format(issue.values.map(String))}`;
    case 'too_small':
      return issue.origin === 'string' ? issue.message : `has to be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' ? issue.message : `has to be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a table',
  array: 'a list',
};

function kindOf(value: unknown): string {
  if (value instanceof Date) return 'a date';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'number' || typeof value === 'bigint' ? 'a number' : (kinds[typeof value] ?? 'that');
}

function unknownKey(key: string, table: readonly string[]): string {
  const meant = closest(key, keysOf(table));
  return meant === null ? 'is not a key of this file' : `is not a key of this file: did you mean ${meant}?`;
}

/** The keys that a table may have. */
function keysOf(table: readonly string[]): readonly string[] {
  let schema: z.core.$ZodType | undefined = Schema;
  for (const name of table) schema = inner(schema)?.shape[name];
  return Object.keys(inner(schema)?.shape ?? {});
}

/** The object below defaults and options. */
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

/** Messages hold no square brackets (decisions, "text of messages"). */
function plain(message: string): string {
  return message.replaceAll('[', '(').replaceAll(']', ')');
}
