// Visitors who sign in at endpoints by a traffic policy, and their sessions.

import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { VisitorSessionList } from './session-list.tsx';
import { VisitorSessionPage } from './session-page.tsx';
import { VisitorList } from './visitor-list.tsx';
import { VisitorPage } from './visitor-page.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={VisitorList} />
      <Route path="/sessions" component={VisitorSessionList} />
      <Route path="/sessions/:id" component={VisitorSessionPage} />
      <Route path="/:id" component={VisitorPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
