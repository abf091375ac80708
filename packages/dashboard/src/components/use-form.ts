import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';

export type FormState = {
  readonly onSubmit: (event: FormEvent) => void;
  readonly isSending: boolean;
  /** The error of the last attempt, which `Form` shows. */
  readonly error: Error | null;
};

/** Calls `send` when a form is submitted, and ignores further submits until `send` has ended. */
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
    error: mutation.error,
  };
}
