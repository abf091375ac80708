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

/** What an agent may be called and told, by requests and by `deploy.toml` alike (decisions, "ids and names"). */
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

/** What a region whose runtime runs builds cannot be told, with what to do instead. */
export const onlyBuilds = {
  image: 'images cannot be run here, since this region runs builds: leave it out to deploy the project itself',
  imageCredentials: 'images are not pulled here, so there is no registry to log in to: leave it out',
  git: 'deploying from a repository is not possible here: check it out and deploy the directory',
  docker: 'images are neither built nor pushed here: leave this table out to deploy the project itself',
  resources: 'CPU and memory come from a profile here: name one as agent_profile',
  architecture: 'bots run on the architecture of the machine here: leave it out',
  audioFilter: 'this audio filter is not part of the service: leave it out',
} as const;
