import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  // Without this setting, a lock file in a parent folder would make that folder the root.
  turbopack: { root: import.meta.dirname },
};

export default config;
