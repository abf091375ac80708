/** The documents of the help, in the order of its navigation. Paths are relative to the root of the repository. */
export const documentGroups: readonly { readonly title: string; readonly documents: readonly string[] }[] = [
  {
    title: 'Build a bot',
    documents: [
      'README.md',
      'docs/bots.md',
      'docs/init.md',
      'docs/services.md',
      'docs/deploy.md',
      'docs/images.md',
      'docs/secrets.md',
      'docs/moving.md',
    ],
  },
  {
    title: 'Talk to it',
    documents: ['docs/sessions.md', 'docs/telephony.md', 'docs/rooms.md', 'docs/livekit.md', 'docs/media.md'],
  },
  { title: 'Watch it', documents: ['docs/conversations.md', 'docs/webhooks.md', 'docs/accounts.md'] },
  {
    title: 'Run the service',
    documents: [
      'docs/operations/install.md',
      'docs/kubernetes.md',
      'docs/operations/run.md',
      'docs/operations/isolation.md',
      'docs/operations/vault-and-audit.md',
      'docs/configuration.md',
      'docs/reverse-proxy.md',
      'docs/performance.md',
    ],
  },
  { title: 'Reference', documents: ['docs/botcli.md', 'docs/bot-contract.md', 'CHANGELOG.md'] },
  {
    title: 'How it works',
    documents: ['docs/architecture.md', 'docs/imports.md', 'docs/dependencies.md', 'docs/testing.md'],
  },
];
