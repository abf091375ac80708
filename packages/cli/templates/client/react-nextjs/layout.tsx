import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { name } from '../config';
import '../style.css';

export const metadata: Metadata = { title: name, icons: 'data:,' };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
