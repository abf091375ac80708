import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  // By default, Next.js would take a parent folder with a lock file for the root of this project.
  turbopack: { root: import.meta.dirname },
};

export default config;
