import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { describeError } from '../api.ts';

export type FormState = {
  readonly onSubmit: (event: FormEvent) => void;
  readonly isSending: boolean;
  readonly problem: string | null;
};

/**
 * Calls `send` when a form is submitted, and ignores further submits until `send` has ended. `problem` is a sentence about the
 * error of the last attempt, or null if there is none.
 */
export function useForm<Result>(
  send: () => Promise<Result>,
  onDone: (result: Result) => void | Promise<void>,
): FormState {
  const mutation = useMutation({ mutationFn: send, onSuccess: onDone });
  return {
    onSubmit: (event: FormEvent) => {
      event.preventDefault();
      if (!mutation.isPending) mutation.mutate();
    },
    isSending: mutation.isPending,
    problem: mutation.error === null ? null : describeError(mutation.error),
  };
}
