import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import './audit.css';
import { AuditEntryPage } from './entry.tsx';
import { AuditList } from './list.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={AuditList} />
      <Route path="/:id" component={AuditEntryPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
