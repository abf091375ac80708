'use client';

import { Talk } from '../talk';

export default function Page() {
  return <Talk />;
}
