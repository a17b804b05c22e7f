import { answerLeaveQuestion, leaveQuestion } from '../unsaved/unsaved-work.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** Asks before unsaved work is lost. It is rendered once, beside everything else. */
export function LeaveDialog() {
  const question = leaveQuestion.value;
  if (!question) return null;
  const secrets = question.works.flatMap(({ kind, name }) => (kind === 'secret' && name ? [name] : []));
  return (
    <ConfirmDialog
      title={secrets.length > 0 ? 'Leave without the secret?' : 'Leave without saving?'}
      confirmLabel={secrets.length > 0 ? 'Leave without it' : 'Discard the changes'}
      cancelLabel="Stay here"
      onConfirm={() => answerLeaveQuestion(true)}
      onClose={() => answerLeaveQuestion(false)}
    >
      {secrets.map((name) => (
        <p key={name}>You have not copied {name}. It can’t be shown again.</p>
      ))}
      {question.works.some(({ kind }) => kind === 'changes') && <p>What you have changed here isn’t saved.</p>}
    </ConfirmDialog>
  );
}
