import { z } from 'zod';
import { conversationLevels } from './conversation/level.ts';
import { parseImageReference } from './image-reference.ts';
import { agentProfileNames, instanceCountLimits, sessionDurationLimitsSeconds } from './limits.ts';

// Schemas that validate the fields of an agent in API requests and in `deploy.toml`.

export const AgentProfile = z.enum(agentProfileNames);
export const WebsocketAuth = z.enum(['none', 'token']);
/** The fields in the response to a start with the transport `websocket`: all, or only `wsUrl` and `token`. */
export const WebsocketStart = z.enum(['full', 'minimal']);
/** What the service keeps of the conversations of an agent. */
export const ConversationLevel = z.enum(conversationLevels);
export const CpuArchitecture = z.enum(['amd64', 'arm64']);
export const AudioFilter = z.enum(['tel', 'pro']);

/** What the agents of a region are deployed from: builds of uploaded projects, or container images. */
export const DeploySource = z.enum(['build', 'image']);
export type DeploySource = z.infer<typeof DeploySource>;

/** A reference to a container image, which need not name a registry, a tag or a digest. */
export const ImageReferenceText = z.string().superRefine((text, context) => {
  const parsed = parseImageReference(text);
  if (!('problem' in parsed)) return;
  context.addIssue({
    code: 'custom',
    message: `is not an image reference, as in ghcr.io/team/bot:1.0: ${parsed.problem}`,
  });
});

/** The maximum duration of a session, in seconds. */
export const MaxSessionDuration = z
  .int()
  .min(sessionDurationLimitsSeconds.minimum)
  .max(sessionDurationLimitsSeconds.maximum);
export const MinAgents = z.int().min(instanceCountLimits.minimum).max(instanceCountLimits.maximum);
export const MaxAgents = z.int().min(1).max(instanceCountLimits.maximum);

/** Error messages for settings that no region supports. Each message says why, and what to use instead. */
const unsupportedEverywhere = {
  git: 'this region cannot deploy from a repository: clone it and deploy the directory',
  resources: 'CPU and memory come from a profile: set agent_profile',
  architecture: 'bots run on the architecture of the machine: remove it',
  audioFilter: 'the service does not have this audio filter: remove it',
} as const;

/** Error messages for settings that are not supported, by what the region accepts. `null`: the setting is supported. */
export const unsupportedAgentSettingMessages = {
  build: {
    ...unsupportedEverywhere,
    image: 'this region runs builds, not images: remove it to deploy the project itself',
    imageCredentials: 'this region pulls no images, so it needs no credentials: remove it',
    docker: 'this region builds and pushes no images: remove this table to deploy the project itself',
    build: null,
  },
  image: {
    ...unsupportedEverywhere,
    git: 'this region cannot deploy from a repository: build and push an image and deploy it',
    image: null,
    imageCredentials: null,
    docker: null,
    build: 'this region runs images, not builds: build and push an image and deploy it',
  },
} as const;
