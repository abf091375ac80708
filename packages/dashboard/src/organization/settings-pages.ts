/** The pages of an organization's settings, in the order of their navigation. */
export const settingsPages = [
  { label: 'General', to: '/orgs/$organization/settings/general' },
  { label: 'API keys', to: '/orgs/$organization/settings/keys' },
  { label: 'Members', to: '/orgs/$organization/settings/members' },
  { label: 'Webhooks', to: '/orgs/$organization/settings/webhooks' },
  { label: 'Alerts', to: '/orgs/$organization/settings/alerts' },
  { label: 'Audit log', to: '/orgs/$organization/settings/audit' },
] as const;
