import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  // A lock file in a folder above does not make that folder the project.
  turbopack: { root: import.meta.dirname },
};

export default config;
