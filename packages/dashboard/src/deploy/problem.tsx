import { PackingError } from '@bothost/packing';
import { describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';

/** Shows what is wrong with a project, which files are affected, and what to do. */
export function PackingProblem({ error }: { readonly error: unknown }) {
  if (!(error instanceof PackingError)) return <Alert>{describeError(error)}</Alert>;
  return (
    <Alert>
      <p className="font-medium">{error.message}</p>
      {error.hint !== null && <p>{error.hint}</p>}
      {error.issues.length > 0 && (
        <ul className="mt-2 list-disc pl-5 wrap-anywhere">
          {error.issues.slice(0, 20).map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path}: {message}
            </li>
          ))}
          {error.issues.length > 20 && <li>{error.issues.length - 20} more</li>}
        </ul>
      )}
    </Alert>
  );
}
