/** Sections of the help to which sections of pages link. A test checks that each exists. */
export const helpTopics = [
  'bots#how-python-instances-start-fast',
  'conversations#crashes',
  'conversations#levels',
  'conversations#logs',
  'conversations#turns-and-response-times',
  'deploy#what-is-packed',
  'images#what-is-deployed',
  'media',
  'rooms#connect-daily',
  'secrets#image-pull-secrets',
  'secrets#what-bots-get',
  'sessions#the-record-of-a-session',
  'telephony#connecting-a-carrier',
  'webhooks#what-was-delivered',
] as const;
export type HelpTopic = (typeof helpTopics)[number];
