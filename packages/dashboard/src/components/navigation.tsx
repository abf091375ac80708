import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

/** A list of links. On a narrow screen, it scrolls horizontally, fades out on the right, and keeps the current link in view. */
export function Navigation({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className: string;
  readonly children: ReactNode;
}) {
  const navigation = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another current link
  useEffect(() => {
    const current = navigation.current?.querySelector<HTMLElement>('[aria-current]');
    if (current != null) navigation.current?.scrollTo({ left: current.offsetLeft - 48 });
  }, [pathname]);
  return (
    <nav
      ref={navigation}
      aria-label={label}
      className={`relative flex overflow-x-auto max-md:pr-10 max-md:[mask-image:linear-gradient(to_right,black_calc(100%-2.5rem),transparent)] ${className}`}
    >
      {children}
    </nav>
  );
}
