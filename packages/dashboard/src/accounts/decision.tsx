import { useMutation } from '@tanstack/react-query';
import { describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';

type DecisionProps<Result> = {
  readonly decide: (approve: boolean) => Promise<Result>;
  readonly onDone: (result: Result) => void;
};

/** Buttons with which a person approves or denies a login. */
export function Decision<Result>({ decide, onDone }: DecisionProps<Result>) {
  const { mutate, error, isPending, isSuccess } = useMutation({ mutationFn: decide, onSuccess: onDone });
  return (
    <>
      {error !== null && <Alert>{describeError(error)}</Alert>}
      <div className="flex gap-3">
        <Button onClick={() => mutate(true)} disabled={isPending || isSuccess}>
          Approve
        </Button>
        <Button variant="danger" onClick={() => mutate(false)} disabled={isPending || isSuccess}>
          Deny
        </Button>
      </div>
    </>
  );
}
