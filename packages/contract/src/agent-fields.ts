import { z } from 'zod';
import {
  agentInstances,
  nameLength,
  namePattern,
  type ProfileName,
  profiles,
  reservedNames,
  sessionSeconds,
} from './limits.ts';

/** Settings of an agent, shared by requests and `deploy.toml`. */
export const AgentName = z
  .string()
  .min(nameLength.minimum, `use at least ${nameLength.minimum} characters`)
  .max(nameLength.maximum, `use at most ${nameLength.maximum} characters`)
  .regex(namePattern, 'use lower-case letters, digits and hyphens, and begin and end with a letter or digit')
  .refine((name) => !reservedNames.includes(name), 'this name is reserved');

export const AgentProfile = z.enum(Object.keys(profiles) as [ProfileName, ...ProfileName[]]);
export const WebsocketAuth = z.enum(['none', 'token']);
export const Architecture = z.enum(['amd64', 'arm64']);
export const AudioFilter = z.enum(['tel', 'pro']);

/** Seconds. */
export const MaxSessionDuration = z.int().min(sessionSeconds.minimum).max(sessionSeconds.maximum);
export const MinAgents = z.int().min(agentInstances.minimum).max(agentInstances.maximum);
export const MaxAgents = z.int().min(1).max(agentInstances.maximum);

/** Why a region that runs builds does not support a setting, and what to do instead. */
export const unsupportedSettings = {
  image: 'this region runs builds, not images: remove it to deploy the project itself',
  imageCredentials: 'this region pulls no images, so it needs no credentials: remove it',
  git: 'this region cannot deploy from a repository: clone it and deploy the directory',
  docker: 'this region builds and pushes no images: remove this table to deploy the project itself',
  resources: 'CPU and memory come from a profile: set agent_profile',
  architecture: 'bots run on the architecture of the machine: remove it',
  audioFilter: 'the service does not have this audio filter: remove it',
} as const;
