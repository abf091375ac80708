/** The groups of operations in the OpenAPI document, in the order of the API reference. */
export const openApiTags = {
  public: ['Starting sessions', 'Start sessions and reach their bots, with a public key.'],
  sessions: ['Sessions', 'List, read and stop sessions.'],
  agents: ['Agents', 'Agents and their deployments.'],
  builds: ['Builds', 'Upload projects, and build them for a deployment.'],
  logs: ['Logs', 'The output of bots.'],
  secrets: ['Secrets', 'Sets of secrets and image pull secrets. Values are never returned.'],
  rooms: ['Rooms', 'The keys of providers of rooms. Keys are never returned.'],
  phone: ['Phones', 'Phone carriers, and the calls that they bring.'],
  keys: ['API keys', 'The private and public keys of an organization.'],
  organizations: ['Organizations', 'Organizations, their regions and properties.'],
  webhooks: [
    'Webhooks',
    'Addresses that get the events of an organization, what was delivered to them, and alerts of agents.',
  ],
  members: ['Members', 'The people in an organization, and invitations.'],
  audit: ['Audit log', 'Who changed what in an organization.'],
  account: ['Account', 'The account of a person, and their personal access tokens.'],
  authentication: ['Sign-in', 'Sign-in of people, in a browser or with a program.'],
  'pipecat-cloud': ['Pipecat Cloud', "The paths that Pipecat Cloud's own clients use."],
  operator: ['Operator', 'Backups and the encryption of secrets, with the token of the operator.'],
} as const satisfies Readonly<Record<string, readonly [name: string, description: string]>>;

export type OpenApiTag = keyof typeof openApiTags;
