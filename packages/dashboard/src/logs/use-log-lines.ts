import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { logQuery } from './queries.ts';

/** Reads a log, and joins the lines of its pages, oldest first. */
export function useLogLines(query: ReturnType<typeof logQuery>) {
  const pages = useInfiniteQuery(query);
  const lines = useMemo(() => pages.data?.pages.flatMap((page) => page.lines) ?? [], [pages.data]);
  const read = pages.data?.pages ?? [];
  return {
    pages,
    lines,
    isMaskingIncomplete: read.some((page) => page.isMaskingIncomplete),
    isHiddenByRole: read.some((page) => page.isHiddenByRole),
  };
}
