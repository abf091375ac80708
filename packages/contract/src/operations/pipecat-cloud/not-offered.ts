import { z } from 'zod';
import { editors, everyone } from '../../authorization.ts';
import { defineOperation, type OperationMethod } from '../../operation.ts';
import { requestWithoutBody } from '../fields.ts';

/**
 * Describes an operation of Pipecat Cloud that has no meaning in this service. It fails with `not-offered`, and Pipecat Cloud's
 * CLI shows the message of this failure. With 404, the CLI would show an empty result.
 */
function notOffered<const Name extends string>(name: Name, method: OperationMethod, path: string, summary: string) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  return defineOperation({
    ...requestWithoutBody,
    name,
    summary: `Not offered: ${summary}`,
    tag: 'pipecat-cloud',
    key: 'organization',
    grantees: method === 'GET' ? everyone : editors,
    method,
    path,
    params: z.object(Object.fromEntries(names.map((parameter) => [parameter, z.string()]))),
    response: z.object({}),
    errors: names.length === 0 ? ['not-offered'] : ['not-offered', 'not-found'],
  });
}

const git = '/services/{agentName}/environments/production/git';
const branches = '/github/repositories/{owner}/{repository}/branches';

export const unsupportedPipecatCloudOperations = {
  getDailyKey: notOffered('getDailyKey', 'GET', '/daily', 'get the key of hosted rooms'),
  createAgentProfile: notOffered('createAgentProfile', 'POST', '/agent-profiles', 'create an agent profile'),
  updateAgentProfile: notOffered('updateAgentProfile', 'PATCH', '/agent-profiles/{profile}', 'change an agent profile'),
  createRegistryKey: notOffered('createRegistryKey', 'POST', '/registry-keys', 'create a registry key'),
  revokeRegistryKey: notOffered('revokeRegistryKey', 'DELETE', '/registry-keys/{keyId}', 'revoke a registry key'),
  getSpendLimit: notOffered('getSpendLimit', 'GET', '/spend-limit', 'read the spend limit'),
  updateSpendLimit: notOffered('updateSpendLimit', 'PUT', '/spend-limit', 'change the spend limit'),
  registerRegion: notOffered('registerRegion', 'POST', '/regions', 'register a self-hosted region'),
  getRegion: notOffered('getRegion', 'GET', '/regions/{region}', 'read a self-hosted region'),
  deleteRegion: notOffered('deleteRegion', 'DELETE', '/regions/{region}', 'delete a self-hosted region'),
  createEnrollmentToken: notOffered(
    'createEnrollmentToken',
    'POST',
    '/regions/{region}/enrollment-tokens',
    'create an enrollment token of a self-hosted region',
  ),
  referenceSecretSet: notOffered('referenceSecretSet', 'POST', '/secrets/references', 'refer to a Kubernetes secret'),
  getGitHubInstallUrl: notOffered('getGitHubInstallUrl', 'GET', '/github/install-url', 'connect GitHub'),
  getGitHubLinkUrl: notOffered('getGitHubLinkUrl', 'GET', '/github/link-url', 'link a GitHub installation'),
  getGitHubInstallation: notOffered(
    'getGitHubInstallation',
    'GET',
    '/github/installation',
    'read the GitHub connection',
  ),
  deleteGitHubInstallation: notOffered(
    'deleteGitHubInstallation',
    'DELETE',
    '/github/installation',
    'disconnect GitHub',
  ),
  listGitHubRepositories: notOffered('listGitHubRepositories', 'GET', '/github/repositories', 'list repositories'),
  listGitHubBranches: notOffered('listGitHubBranches', 'GET', branches, 'list the branches of a repository'),
  linkService: notOffered('linkService', 'POST', git, 'link an agent to a repository'),
  unlinkService: notOffered('unlinkService', 'DELETE', git, 'unlink an agent from its repository'),
  deployServiceFromGit: notOffered(
    'deployServiceFromGit',
    'POST',
    `${git}/deploy`,
    'deploy an agent from its repository',
  ),
} as const;
